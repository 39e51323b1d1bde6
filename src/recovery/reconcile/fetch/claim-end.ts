import {
  createEndRecord,
  type EndRecord,
  readEndRecord,
  replaceEndRecord,
} from '../../../archive/end-record.js';
import { endRecordKey } from '../../../archive/layout.js';
import { isDelivery, type LedgerLine } from '../../../domain/delivery.js';
import { linesBeforeIndex } from '../../../index/questions/lines-before-index.js';
import { newDeliveryId } from '../../../ledger/ledger-line.js';
import { comparePlaces } from '../../../ledger/log/line-place.js';
import type { ScannedLine } from '../../../ledger/log/scan-hour.js';
import type { RecoveryParts } from '../recovery-parts.js';
import { searchFrom } from '../was-erased.js';

/** A job that ended, and a source that should have received its callback. */
export interface EndedJob {
  readonly jobId: string;
  readonly source: string;
  /** ISO 8601, by the service's clock. */
  readonly createdAt: string;
}

type EndParts = Pick<RecoveryParts, 'store' | 'view' | 'clock'>;

/** Milliseconds after which a claim is taken over: the run that made it died before it wrote the line. */
const CLAIM_LIFE = 5 * 60_000;
const PAGE = 500;

/** The claim on recording the end of a job, so that several runs record it once. */
interface EndClaim {
  /** Id of the line to append. A run that takes the claim over uses the same, so that the event keeps its id. */
  readonly deliveryId: string;
  /** Call it when the line is durable. */
  confirm(): Promise<void>;
  /** Releases the claim when no line was written. */
  release(): Promise<void>;
}

/** Whether the end of the job is recorded for the source; does not search the ledger. Throws `StoreError`. */
export async function isEndRecorded({ store }: EndParts, { jobId, source }: EndedJob): Promise<boolean> {
  return (await readEndRecord(store, jobId, source))?.recorded === true;
}

/**
 * The newest ledger line by which the job arrived at the source, or that records it as lost; null without one. A refused callback is no
 * arrival. Searches like `newestLine`.
 */
export function lastArrival(parts: EndParts, job: EndedJob): Promise<LedgerLine | null> {
  return newestLine(parts, job, (line) => isArrival(line, job.source));
}

/**
 * The newest line of a job that `isWanted` accepts; null without one. Waits for an index that is being built, and reads the log for the
 * time before the index. Throws `StoreError`.
 */
export async function newestLine(
  { store, view, clock }: EndParts,
  job: Pick<EndedJob, 'jobId' | 'createdAt'>,
  isWanted: (line: LedgerLine) => boolean,
): Promise<LedgerLine | null> {
  await view.refresh();
  const since = searchFrom(job.createdAt, clock());
  await view.reachBack(Date.parse(since));
  const indexed = await newestIndexedLine({ view, clock }, job, isWanted);
  if (indexed !== null) return indexed;
  let last: ScannedLine | null = null;
  for await (const scanned of linesBeforeIndex({ store, view }, Date.parse(since))) {
    const isOwn = scanned.line.jobId === job.jobId && isWanted(scanned.line);
    if (isOwn && (last === null || comparePlaces(scanned.place, last.place) > 0)) last = scanned;
  }
  return last?.line ?? null;
}

/** Like `newestLine`, but in the index as it is: lines that it has not read yet are not found. */
export async function newestIndexedLine(
  { view, clock }: Pick<EndParts, 'view' | 'clock'>,
  { jobId, createdAt }: Pick<EndedJob, 'jobId' | 'createdAt'>,
  isWanted: (line: LedgerLine) => boolean,
): Promise<LedgerLine | null> {
  const since = searchFrom(createdAt, clock());
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await view.deliveries({ job: jobId, since, limit: PAGE, ...(cursor && { cursor }) });
    const found = page.deliveries.find(isWanted);
    if (found !== undefined) return found;
    cursor = page.nextCursor;
  }
  return null;
}

const ARRIVALS: readonly string[] = [
  'stored',
  'noted',
  'quarantined',
  'conflict',
  'recovered',
  'released',
  'unrecoverable',
];

function isArrival({ origin, source, outcome, items }: LedgerLine, wanted: string): boolean {
  if (!isDelivery(origin) || (source !== null && source !== wanted)) return false;
  return ARRIVALS.includes(outcome) || (outcome === 'duplicate' && items.length > 0);
}

/**
 * Marks the end of the job as recorded, so that later runs do not search the ledger. `arrival` is the line that proves it. Throws
 * `StoreError`.
 */
export async function noteArrival(
  { store, clock }: EndParts,
  { jobId, source }: EndedJob,
  { origin, deliveryId }: LedgerLine,
): Promise<void> {
  const own = origin === 'callback' ? null : deliveryId;
  await replaceEndRecord(store, jobId, source, { deliveryId: own, recorded: true, at: isoTime(clock()) });
}

/** Null when another run is recording the end, or has. Throws `StoreError`. */
export async function claimEnd({ store, clock }: EndParts, job: EndedJob): Promise<EndClaim | null> {
  const { jobId, source } = job;
  const record: EndRecord = {
    deliveryId: newDeliveryId(clock()),
    recorded: false,
    at: isoTime(clock()),
  };
  const created = await createEndRecord(store, jobId, source, record);
  const held = created === 'created' ? record : await readEndRecord(store, jobId, source);
  // After a lost answer `exists` may be the claim of this run.
  const isOwn = held?.deliveryId === record.deliveryId;
  const deliveryId = isOwn ? record.deliveryId : abandonedId(held, clock());
  if (deliveryId === null) return null;
  return {
    deliveryId,
    confirm: () =>
      replaceEndRecord(store, jobId, source, { deliveryId, recorded: true, at: isoTime(clock()) }),
    release: () => store.delete(endRecordKey(jobId, source)),
  };
}

/** The id of an expired claim; null for one that is still valid, and for an end that is already recorded. */
function abandonedId(held: EndRecord | null, now: number): string | null {
  if (held === null || held.recorded) return null;
  return now - Date.parse(held.at) > CLAIM_LIFE ? held.deliveryId : null;
}

function isoTime(now: number): string {
  return new Date(now).toISOString();
}

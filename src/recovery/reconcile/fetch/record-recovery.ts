import { isErased } from '../../../archive/erasure/erasure.js';
import type { ArtefactContext } from '../../../archive/layout.js';
import { readBack } from '../../../archive/read-back.js';
import type { OmittedContext } from '../../../domain/context.js';
import type { LedgerLine } from '../../../domain/delivery.js';
import { ledgerLine, NO_REQUEST, newDeliveryId } from '../../../ledger/ledger-line.js';
import type { CallbackStatus, JobRecord } from '../../../speech/wire.js';
import type { ObjectInfo } from '../../../store/object-store.js';
import type { ExpectedCallback, ExpectedItem } from '../expectation.js';
import { expectedAt, isGivenUp, isGone, joinReasons } from '../plan-job.js';
import { failureReason } from '../recovery-errors.js';
import type { JobOptions, RecoveryParts } from '../recovery-parts.js';
import { outcomeOfItems } from '../report/job-result.js';
import type { RecoveredJob } from '../report/recovery-report.js';
import { claimEnd, lastArrival, newestIndexedLine, newestLine } from './claim-end.js';
import type { ItemResult } from './fetch-missing.js';

interface RecoveryRecord {
  readonly result: RecoveredJob;
  readonly results: readonly ItemResult[];
  readonly job: JobRecord;
  readonly contextOf: (item: ExpectedCallback) => ArtefactContext;
  readonly options: Pick<JobOptions, 'actor' | 'again' | 'openBefore'>;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

/** Returns the delivery of an item: one for each source and context that the job names. */
export function createContexts(
  { sources }: Pick<RecoveryParts, 'sources'>,
  job: JobRecord,
  region: string,
  origin: JobOptions['origin'],
  now: number,
): (item: ExpectedCallback) => ArtefactContext {
  const contexts = new Map<string, ArtefactContext>();
  return ({ source, submitted }) => {
    const delivery = JSON.stringify([source, submitted]);
    const context = contexts.get(delivery) ?? {
      deliveryId: newDeliveryId(now),
      jobId: job.id,
      status: callbackStatusOf(job),
      source,
      region,
      origin,
      receivedAt: new Date(now).toISOString(),
      context: submitted.context,
      keyPrefix: sources[source]?.keyPrefix ?? '',
    };
    contexts.set(delivery, context);
    return context;
  };
}

/**
 * Writes the result of a job into the ledger, a line per delivery. Every stored item gets a line. A job that was found complete gets
 * none, unless its artefacts were compared with those of the service. A job that could not be fetched gets one line, not one per run.
 *
 * If a line cannot be written, the job is `failed`, even though its artefacts are stored.
 */
export async function recordRecovery(parts: RecoveryParts, record: RecoveryRecord): Promise<RecoveredJob> {
  const { result, results, contextOf } = record;
  const deliveries = new Set(results.map(({ item }) => contextOf(item)));
  try {
    await Promise.all(
      [...deliveries].map((delivery) => {
        const own = results.filter(({ item }) => contextOf(item) === delivery);
        return recordDelivery(parts, record, delivery, own);
      }),
    );
    return result;
  } catch (error) {
    const note = `done, but missing in the ledger: ${failureReason(error)}`;
    return { ...result, outcome: 'failed', reason: joinReasons([result.reason, note]) };
  }
}

async function recordDelivery(
  parts: RecoveryParts,
  { result, job, options, startedAt }: RecoveryRecord,
  delivery: ArtefactContext,
  results: readonly ItemResult[],
): Promise<void> {
  const found = outcomeOfItems(results);
  const isCompared = options.again && results.some(({ outcome }) => outcome === 'identical');
  if (found === 'matched' && !isCompared) return;
  const outcome = found === 'matched' ? 'duplicate' : found;
  const reason = isCompared ? joinReasons([SAME_BYTES, result.reason]) : result.reason;
  const contextOmitted = results[0]?.item.submitted.contextOmitted ?? null;
  const fields = { delivery, results, outcome, reason, contextOmitted, options, startedAt, job };
  if (results.some(({ stored }) => stored !== null)) return parts.ledger.append(lineOf(parts, fields));
  if (options.openBefore.get(result.jobId)?.outcome === found) return;
  if (found !== 'unrecoverable' || !isGone(job)) return parts.ledger.append(lineOf(parts, fields));
  await recordLoss(parts, fields);
}

const SAME_BYTES = 'the service has the same bytes';

/** Records the loss of a job that the service no longer has: once, by the first run that finds it, and again only after an arrival. */
async function recordLoss(parts: RecoveryParts, fields: RecoveryFields): Promise<void> {
  const { delivery, job } = fields;
  const place = { jobId: job.id, source: delivery.source, createdAt: job.created_at };
  const arrival = await lastArrival(parts, place);
  if (arrival?.outcome === 'unrecoverable') return;
  if (arrival !== null) return parts.ledger.append(lineOf(parts, fields));
  const claim = await claimEnd(parts, place);
  if (claim === null) return;
  const { deliveryId } = claim;
  await parts.ledger.append(lineOf(parts, { ...fields, delivery: { ...delivery, deliveryId } }));
  await claim.confirm();
}

/** An item that was stored before. */
export interface PresentItem {
  readonly item: ExpectedItem;
  readonly info: ObjectInfo;
}

/**
 * Writes the ledger line of stored items that no line records: the process that stored them died before it wrote one, or the ledger
 * could not be written. Without a line neither subscribers nor `verify` would learn of them. The service retries a callback until it was
 * recorded, unless it gave up; nothing retries a recovery. Throws `StoreError`.
 */
export async function recordUnrecorded(
  parts: RecoveryParts,
  { present, job, contextOf, options, startedAt }: UnrecordedItems,
): Promise<void> {
  const results: ItemResult[] = [];
  for (const { item, info } of await withoutLine(parts, job, present)) {
    const sha256 = info.metadata.sha256 ?? (await readBack(parts.store, item.key))?.sha256;
    if (sha256 === undefined) continue;
    const { kind, key } = item;
    const stored = { kind, key, size: info.size, sha256, outcome: 'identical' as const };
    results.push({ item, stored, outcome: 'identical', reason: LINE_LOST });
  }
  if (results.length === 0 || (await isErased(parts.store, job.id))) return;
  for (const delivery of new Set(results.map(({ item }) => contextOf(item)))) {
    const own = results.filter(({ item }) => contextOf(item) === delivery);
    const contextOmitted = own[0]?.item.submitted.contextOmitted ?? null;
    const fields = { delivery, results: own, contextOmitted, options, startedAt, job };
    await parts.ledger.append(lineOf(parts, { ...fields, outcome: 'duplicate', reason: LINE_LOST }));
  }
}

interface UnrecordedItems extends Pick<RecoveryRecord, 'job' | 'contextOf' | 'options' | 'startedAt'> {
  readonly present: readonly PresentItem[];
}

const LINE_LOST = 'it was stored before, but no ledger line recorded it';

/** Whether the item may have no ledger line. */
export function mayBeUnrecorded({ info }: PresentItem, job: JobRecord): boolean {
  return info.metadata.origin === 'recovery' || info.metadata.origin === 'replay' || isGivenUp(job);
}

/** The items that no line of the job records. */
async function withoutLine(
  parts: RecoveryParts,
  { id: jobId, created_at: createdAt }: JobRecord,
  present: readonly PresentItem[],
): Promise<readonly PresentItem[]> {
  const left = new Map(present.map((each) => [each.item.key, each]));
  const isLast = ({ items }: LedgerLine) => {
    for (const { key, outcome } of items) if (outcome !== 'read') left.delete(key);
    return left.size === 0;
  };
  const job = { jobId, createdAt };
  // The index alone first: nearly all items have a line, and reading the newest lines takes a listing.
  if ((await newestIndexedLine(parts, job, isLast)) === null) await newestLine(parts, job, isLast);
  return [...left.values()];
}

interface EndFields extends Omit<RecoveryFields, 'outcome' | 'contextOmitted'> {
  readonly callback: ExpectedCallback;
}

/** Writes the line of a job that ended without a transcript, as its callback would have had it. Throws `StoreError`. */
export async function recordEnd(parts: RecoveryParts, end: EndFields): Promise<void> {
  const { callback, delivery, results } = end;
  const fetched = outcomeOfItems(results.filter(({ stored }) => stored !== null));
  const known = fetched === 'matched' ? 'noted' : fetched;
  const outcome = delivery.status === null ? 'unrecoverable' : known;
  const { contextOmitted } = callback.submitted;
  await parts.ledger.append(lineOf(parts, { ...end, outcome, contextOmitted }));
}

interface RecoveryFields {
  readonly delivery: ArtefactContext;
  readonly results: readonly ItemResult[];
  readonly outcome: LedgerLine['outcome'];
  readonly reason: string | null;
  readonly contextOmitted: OmittedContext | null;
  readonly job: JobRecord;
  readonly options: Pick<JobOptions, 'actor'>;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

function lineOf({ clock }: RecoveryParts, fields: RecoveryFields): LedgerLine {
  const { results, outcome, reason, contextOmitted, job, options, startedAt } = fields;
  const { deliveryId, receivedAt, origin, source, region, jobId, status, context } = fields.delivery;
  const items = results.flatMap(({ stored }) => (stored === null ? [] : [stored]));
  return ledgerLine({
    ...NO_REQUEST,
    deliveryId,
    receivedAt,
    origin,
    source,
    region,
    jobId,
    status,
    context,
    outcome,
    items,
    reason,
    bytes: items.reduce((sum, { size }) => sum + size, 0),
    durationMs: Math.max(0, clock() - startedAt),
    actor: options.actor,
    contextOmitted,
    expectedAt: origin === 'recovery' ? expectedAt(job) : null,
  });
}

/** Error messages of rejected jobs whose callback has a status of its own; the interface does not fix their wording. */
const CAUSES: readonly (readonly [message: RegExp, status: CallbackStatus])[] = [
  [/\bfetch(ing)?\b/i, 'fetch_error'],
  [/\btrim(ming)?\b/i, 'trim_error'],
];

/** The status that the callback of a job carries; null while it is running, and when the service no longer knows how it ended. */
function callbackStatusOf({ status, errors = [] }: JobRecord): CallbackStatus | null {
  if (status === 'done') return 'success';
  if (status !== 'rejected') return null;
  const own = errors.filter(({ message }) => !/notification/i.test(message));
  const cause = CAUSES.find(([pattern]) => own.some(({ message }) => pattern.test(message)));
  return cause?.[1] ?? 'error';
}

import { describeArtefact, listJobObjects, readArtefacts } from '../../archive/artefacts.js';
import { quarantinedBodies } from '../../archive/quarantine/quarantined-bodies.js';
import type { LedgerLine } from '../../domain/delivery.js';
import type { FreshView } from '../../ledger-view/fresh-view.js';
import type { LedgerView } from '../../ledger-view/ledger-view.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { Job } from '../api/answers/jobs.js';
import { findServiceRecord, type RecordSource } from './find-service-record.js';
import { identityOf, type JobHistory } from './job-history.js';

export interface InspectParts {
  readonly store: ObjectStore;
  readonly keyPrefixes: readonly string[];
  readonly view: Pick<LedgerView, 'deliveries'>;
  readonly history: JobHistory;
  readonly fresh: FreshView;
  readonly records: RecordSource;
}

/** Lines in memory; a sender that repeats a callback for days causes more, and `GET deliveries` lists those. */
const MAX_RECENT = 500;

/** What is known of a job. */
export interface InspectedJob {
  /** Null when store, ledger and speech service do not know the job. */
  readonly job: Job | null;
  /** ISO 8601: the ledger was searched back to then; null when all of it was. */
  readonly searchedBackTo: string | null;
}

/** Reads the store, the ledger and the speech service. */
export async function inspectJob(parts: InspectParts, jobId: string): Promise<InspectedJob> {
  const [found] = await Promise.all([readArtefacts(parts.store, parts.keyPrefixes, jobId), parts.fresh()]);
  const { deliveries: recent } = await parts.view.deliveries({ job: jobId, limit: MAX_RECENT });
  const alone = found.length === 0 && recent.length === 0;
  const bodies = alone ? await quarantinedBodies(parts.store, jobId) : [];
  const { lines, searchedBackTo } = await parts.history.search(jobId, {
    receivedAt: [
      ...found.flatMap(({ info }) => info.metadata['received-at'] ?? []),
      ...bodies.flatMap(({ receivedAt }) => receivedAt ?? []),
    ],
    isKnown: !alone || bodies.length > 0,
  });
  const timeline = oldestFirst([...recent, ...lines]);
  const regions = [
    ...found.map(({ info }) => info.metadata.region),
    ...timeline.map(({ region }) => region ?? undefined),
  ];
  const region = regions.find((name) => name !== undefined) ?? null;
  const service = await findServiceRecord(parts.records, jobId, region);
  if (found.length === 0 && timeline.length === 0 && bodies.length === 0 && service === null) {
    return { job: null, searchedBackTo };
  }
  const artefacts = found.map((artefact) => describeArtefact(artefact, timeline));
  return { job: { jobId, artefacts, timeline, searchedBackTo, service }, searchedBackTo };
}

/**
 * Whether the job has artefacts, quarantined bodies or ledger lines of any age, as far as the ledger can be searched in
 * some seconds; the speech service is not asked.
 */
export async function isKnownHere(parts: InspectParts, jobId: string): Promise<boolean> {
  for await (const _object of listJobObjects(parts.store, parts.keyPrefixes, jobId)) return true;
  await parts.fresh();
  const { deliveries } = await parts.view.deliveries({ job: jobId, limit: 1 });
  if (deliveries.length > 0 || (await quarantinedBodies(parts.store, jobId)).length > 0) return true;
  const { lines } = await parts.history.search(jobId, { receivedAt: [], isKnown: false });
  return lines.length > 0;
}

function oldestFirst(lines: readonly LedgerLine[]): LedgerLine[] {
  const known = new Map(lines.map((line) => [identityOf(line), line]));
  return [...known.values()].sort((a, b) =>
    a.receivedAt < b.receivedAt ? -1 : a.receivedAt > b.receivedAt ? 1 : 0,
  );
}

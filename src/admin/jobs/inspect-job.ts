import { describeArtefact, listJobObjects, readArtefacts } from '../../archive/artefacts.js';
import { quarantinedBodies } from '../../archive/quarantine/quarantined-bodies.js';
import type { LedgerLine } from '../../domain/delivery.js';
import type { FreshView } from '../../ledger-view/fresh-view.js';
import type { LedgerView } from '../../ledger-view/ledger-view.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { Job } from '../api/answers/jobs.js';
import { findServiceRecord, type RecordSource } from './find-service-record.js';

export interface InspectParts {
  readonly store: ObjectStore;
  readonly keyPrefixes: readonly string[];
  readonly view: Pick<LedgerView, 'deliveries' | 'status'>;
  readonly fresh: FreshView;
  readonly records: RecordSource;
}

/** Lines in the timeline of a job; a sender that repeats a callback for days causes more, and `GET deliveries` lists those. */
const MAX_TIMELINE = 500;
const HOUR = 3_600_000;

/** Reads the store, the ledger and the speech service. Null when none of them knows the job. */
export async function inspectJob(parts: InspectParts, jobId: string): Promise<Job | null> {
  const [found] = await Promise.all([readArtefacts(parts.store, parts.keyPrefixes, jobId), parts.fresh()]);
  const { deliveries: recent } = await parts.view.deliveries({ job: jobId, limit: MAX_TIMELINE });
  const alone = found.length === 0 && recent.length === 0;
  const bodies = alone ? await quarantinedBodies(parts.store, jobId) : [];
  const timeline = await withOlderLines(parts, jobId, recent, [
    ...found.map(({ info }) => info.metadata['received-at']),
    ...bodies.map(({ receivedAt }) => receivedAt),
  ]);
  const regions = [
    ...found.map(({ info }) => info.metadata.region),
    ...timeline.map(({ region }) => region ?? undefined),
  ];
  const region = regions.find((name) => name !== undefined) ?? null;
  const service = await findServiceRecord(parts.records, jobId, region);
  if (alone && bodies.length === 0 && service === null) return null;
  const artefacts = found.map((artefact) => describeArtefact(artefact, timeline));
  return { jobId, artefacts, timeline, service };
}

/** Whether the job has artefacts, recent ledger lines or quarantined bodies; the speech service is not asked. */
export async function isKnownHere(parts: InspectParts, jobId: string): Promise<boolean> {
  for await (const _object of listJobObjects(parts.store, parts.keyPrefixes, jobId)) return true;
  await parts.fresh();
  const { deliveries } = await parts.view.deliveries({ job: jobId, limit: 1 });
  return deliveries.length > 0 || (await quarantinedBodies(parts.store, jobId)).length > 0;
}

/** The lines in memory, and those of the older hours in which the job's objects were received. */
async function withOlderLines(
  { view }: InspectParts,
  jobId: string,
  recent: readonly LedgerLine[],
  receivedAt: readonly (string | null | undefined)[],
): Promise<LedgerLine[]> {
  const lines = [...recent];
  const known = new Set(lines.map(identityOf));
  const completeSince = view.status().completeSince ?? '~';
  const oldHours = new Set(receivedAt.flatMap((at) => (at && at < completeSince ? hourOf(at) : [])));
  for (const hour of [...oldHours].slice(0, 24)) {
    const range = { since: new Date(hour).toISOString(), until: new Date(hour + HOUR).toISOString() };
    const older = await view.deliveries({ job: jobId, limit: MAX_TIMELINE, ...range });
    lines.push(...older.deliveries.filter((line) => !known.has(identityOf(line))));
  }
  return lines.sort((a, b) => (a.receivedAt < b.receivedAt ? -1 : a.receivedAt > b.receivedAt ? 1 : 0));
}

function identityOf({ deliveryId, outcome, receivedAt }: LedgerLine): string {
  return `${receivedAt} ${deliveryId} ${outcome}`;
}

function hourOf(instant: string): number[] {
  const time = Date.parse(instant);
  return Number.isNaN(time) ? [] : [Math.floor(time / HOUR) * HOUR];
}

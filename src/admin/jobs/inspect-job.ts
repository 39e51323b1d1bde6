import { type Artefact, describeArtefact, listJobObjects, readArtefacts } from '../../archive/artefacts.js';
import { isErased, readErasure } from '../../archive/erasure/erasure.js';
import type { QuarantineStore } from '../../archive/quarantine/quarantine-store.js';
import { type QuarantinedBody, quarantinedBodies } from '../../archive/quarantine/quarantined-bodies.js';
import { ACCESS_ORIGIN, isAccess, type LedgerLine } from '../../domain/delivery.js';
import { openFailure } from '../../domain/failure-rules.js';
import type { NoRecord } from '../../domain/job-state.js';
import { isConflict } from '../../domain/next-steps.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { LedgerView } from '../../index/ledger-view.js';
import type { FreshView } from '../../index/questions/fresh-view.js';
import type { RetentionView } from '../../retention/retention-view.js';
import type { ObjectInfo, ObjectStore } from '../../store/object-store.js';
import type { Job } from '../api/answers/jobs.js';
import { expiredOfJob, quarantinedBefore } from './expired-of-job.js';
import { findServiceRecord, type RecordSource } from './find-service-record.js';
import { type JobHistory, lineIdentity } from './job-history.js';
import { lostOfJob } from './lost-of-job.js';

export interface InspectParts {
  readonly store: ObjectStore;
  readonly keyPrefixes: readonly string[];
  readonly view: Pick<LedgerView, 'deliveries'>;
  readonly history: JobHistory;
  readonly fresh: FreshView;
  readonly records: RecordSource;
  readonly quarantine: Pick<QuarantineStore, 'request'>;
  readonly retained: RetentionView;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Lines in memory; a sender that repeats a callback for days causes more, and `GET deliveries` lists those. */
const MAX_RECENT = 500;

/**
 * Lines of the job in memory. Accesses are read apart, so that they leave the other lines their room: a page that stays open
 * causes hundreds.
 */
async function recentLines({ view }: Pick<InspectParts, 'view'>, job: string): Promise<LedgerLine[]> {
  const query = { job, limit: MAX_RECENT };
  const [others, accesses] = await Promise.all([
    view.deliveries({ ...query, without: 'accesses' }),
    view.deliveries({ ...query, origin: ACCESS_ORIGIN }),
  ]);
  return [...others.deliveries, ...accesses.deliveries];
}

/**
 * Reads the store, the ledger and the speech service. Only the service's answer when nobody knows the job: as long as the ledger
 * was not searched as a whole, or some of it could not be read, the answer is what was found so far, maybe nothing. Of a job that
 * belongs to other sources too, only what has a source in `scope` exists; a job without anything of the kind is unknown.
 */
export async function inspectJob(
  parts: InspectParts,
  jobId: string,
  scope: SourceScope = null,
): Promise<Job | NoRecord> {
  const [found, mark] = await Promise.all([
    readArtefacts(parts.store, parts.keyPrefixes, jobId),
    readErasure(parts.store, jobId),
    parts.fresh(),
  ]);
  const recent = await recentLines(parts, jobId);
  const alone = found.length === 0 && recent.length === 0;
  const bodies = alone ? await quarantinedBodies(parts.store, jobId) : [];
  const { lines, searchedBackTo, faults } = await parts.history.search(jobId, {
    storedAt: [
      ...found.map(({ info }) => info.modifiedAt.getTime()),
      ...bodies.flatMap(({ receivedAt }) => (receivedAt === null ? [] : Date.parse(receivedAt))),
    ],
    isKnown:
      scope === null ? !alone || bodies.length > 0 || mark !== null : isAnyInScope(found, recent, scope),
    scope,
  });
  const all = oldestFirst([...recent, ...lines]);
  const sources = [...sourcesOf(found, all), ...(await sourcesOfBodies(parts, bodies, scope))];
  const extent = extentOf(sources, scope);
  // How far the search went differs for a job that other sources have, so that a token of some sources does not learn of it.
  if (extent === 'none') return 'not-asked';
  const isVisible = ({ source }: LedgerLine) =>
    source === null ? extent === 'all' : isInScope(scope, source);
  const timeline = all.filter(isVisible);
  const visible = found.filter(({ info }) => isInScope(scope, info.metadata.source));
  const regions = [
    ...visible.map(({ info }) => info.metadata.region),
    ...timeline.map(({ region }) => region ?? undefined),
  ];
  const region = regions.find((name) => name !== undefined) ?? null;
  const { service, serviceAnswer } =
    extent === 'all'
      ? await findServiceRecord(parts.records, jobId, region)
      : { service: null, serviceAnswer: 'not-asked' as const };
  const isUnknown = found.length === 0 && timeline.length === 0 && bodies.length === 0 && mark === null;
  const complete = searchedBackTo === null && faults.length === 0;
  if (isUnknown && serviceAnswer !== 'found' && complete) return serviceAnswer;
  const artefacts = countingFirst(visible.map((artefact) => describeArtefact(artefact, timeline)));
  const { expired, lost } =
    mark === null ? await absentOf(parts, timeline, found) : { expired: [], lost: [] };
  const isWhole = extent === 'all' && mark !== null;
  const erasure = isWhole
    ? { erasedAt: mark.erasedAt, complete: mark.complete, keptUntil: mark.keptUntil }
    : null;
  const failure = failureOf(all, isVisible);
  return {
    ...{ jobId, artefacts, timeline, failure, expired, lost, erasure, searchedBackTo, complete, faults },
    ...{ service, serviceAnswer },
  };
}

function countingFirst(artefacts: readonly Artefact[]): Artefact[] {
  return [...artefacts.filter((each) => !isConflict(each)), ...artefacts.filter(isConflict)];
}

/** By the rules of the list of failures. */
function failureOf(lines: readonly LedgerLine[], isVisible: (line: LedgerLine) => boolean): Job['failure'] {
  const open = openFailure(lines, isVisible);
  return open && { outcome: open.outcome, reason: open.reason, receivedAt: open.receivedAt };
}

/** What its lines name and the store does not hold: expired, or lost. */
async function absentOf(
  { store, retained, clock }: InspectParts,
  timeline: readonly LedgerLine[],
  found: readonly { readonly info: ObjectInfo }[],
): Promise<Pick<Job, 'expired' | 'lost'>> {
  const expiredBefore = await retained.expiredBefore();
  const bodies = quarantinedBefore(timeline, expiredBefore);
  const heads = await Promise.all(bodies.map(({ key }) => store.head(key)));
  const there = [...found.map(({ info }) => info), ...heads.filter((head) => head !== null)];
  const present = new Set(there.map(({ key }) => key));
  return {
    expired: expiredOfJob(timeline, present, expiredBefore, clock()),
    lost: await lostOfJob(store, timeline, present, expiredBefore),
  };
}

/** How much of a job belongs to the sources of a client. */
export type JobExtent = 'all' | 'some' | 'none';

/** The same as `isKnownHere`, and whether everything that is known of the job belongs to sources in `scope`. */
export async function jobExtent(parts: InspectParts, jobId: string, scope: SourceScope): Promise<JobExtent> {
  if (scope === null) return (await isKnownHere(parts, jobId)) ? 'all' : 'none';
  const [found, bodies] = await Promise.all([
    readArtefacts(parts.store, parts.keyPrefixes, jobId),
    quarantinedBodies(parts.store, jobId),
    parts.fresh(),
  ]);
  const recent = await recentLines(parts, jobId);
  const isKnown = isAnyInScope(found, recent, scope);
  const { lines } = await parts.history.search(jobId, { storedAt: [], isKnown, scope });
  const known = [
    ...sourcesOf(found, [...recent, ...lines]),
    ...(await sourcesOfBodies(parts, bodies, scope)),
  ];
  return extentOf(known, scope);
}

/** An artefact without a source could be anybody's, and so could the lines that are not here because there are too many. */
function sourcesOf(
  found: readonly { readonly info: ObjectInfo }[],
  lines: readonly LedgerLine[],
): (string | null)[] {
  return [
    ...found.map(({ info }) => info.metadata.source ?? null),
    ...lines.flatMap(({ source }) => source ?? []),
    ...(lines.filter((line) => !isAccess(line)).length < MAX_RECENT ? [] : [null]),
  ];
}

function isAnyInScope(
  found: readonly { readonly info: ObjectInfo }[],
  lines: readonly LedgerLine[],
  scope: SourceScope,
): boolean {
  return sourcesOf(found, lines).some((source) => isInScope(scope, source));
}

async function sourcesOfBodies(
  { quarantine }: InspectParts,
  bodies: readonly QuarantinedBody[],
  scope: SourceScope,
): Promise<(string | null)[]> {
  if (scope === null) return [];
  const requests = await Promise.all(bodies.map(({ id }) => quarantine.request(id)));
  return requests.flatMap((request) => (request === null ? [] : [request.source]));
}

function extentOf(sources: readonly (string | null)[], scope: SourceScope): JobExtent {
  if (scope === null || (sources.length > 0 && sources.every((source) => isInScope(scope, source))))
    return 'all';
  return sources.some((source) => isInScope(scope, source)) ? 'some' : 'none';
}

/**
 * Whether the job was erased, or has artefacts, quarantined bodies or ledger lines of any age, as far as the ledger can be
 * searched in some seconds; the speech service is not asked.
 */
export async function isKnownHere(parts: InspectParts, jobId: string): Promise<boolean> {
  for await (const _object of listJobObjects(parts.store, parts.keyPrefixes, jobId)) return true;
  if (await isErased(parts.store, jobId)) return true;
  await parts.fresh();
  const { deliveries } = await parts.view.deliveries({ job: jobId, limit: 1 });
  if (deliveries.length > 0 || (await quarantinedBodies(parts.store, jobId)).length > 0) return true;
  const { lines } = await parts.history.search(jobId, { storedAt: [], isKnown: false, scope: null });
  return lines.length > 0;
}

function oldestFirst(lines: readonly LedgerLine[]): LedgerLine[] {
  const known = new Map(lines.map((line) => [lineIdentity(line), line]));
  return [...known.values()].sort((a, b) =>
    a.receivedAt < b.receivedAt ? -1 : a.receivedAt > b.receivedAt ? 1 : 0,
  );
}

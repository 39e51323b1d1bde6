import {
  type Artefact,
  describeArtefact,
  listJobObjects,
  readArtefacts,
} from '../../../archive/artefacts.js';
import { isErased, readErasure } from '../../../archive/erasure/erasure.js';
import type { QuarantineStore } from '../../../archive/quarantine/quarantine-store.js';
import { type QuarantinedBody, quarantinedBodies } from '../../../archive/quarantine/quarantined-bodies.js';
import type { LedgerLine } from '../../../domain/delivery.js';
import { openFailure } from '../../../domain/failure-rules.js';
import type { NoRecord } from '../../../domain/job-state.js';
import { isConflict } from '../../../domain/next-steps.js';
import { isInScope, type SourceScope } from '../../../domain/rights.js';
import { hasAllSince } from '../../../index/index-extent.js';
import type { LedgerView } from '../../../index/ledger-view.js';
import type { FreshView } from '../../../index/questions/fresh-view.js';
import type { RetentionView } from '../../../recovery/retention/retention-view.js';
import type { ObjectInfo, ObjectStore } from '../../../store/object-store.js';
import { otherPrefixes, otherPrefixesOf } from '../../actions/other-prefixes.js';
import type { Job } from '../../answers/jobs.js';
import type { JobEvents } from '../subscribers/job-events.js';
import { absentOfJob } from './absent-of-job.js';
import { findServiceRecord, type RecordSource } from './find-service-record.js';
import { readJobLines } from './job-lines.js';

export interface InspectParts {
  readonly store: ObjectStore;
  readonly view: Pick<LedgerView, 'search' | 'deliveries' | 'sourcesOfJob' | 'extent' | 'status'>;
  readonly keyPrefixes: readonly string[];
  readonly fresh: FreshView;
  readonly records: RecordSource;
  readonly quarantine: Pick<QuarantineStore, 'request'>;
  readonly retained: RetentionView;
  readonly jobEvents: JobEvents;
  /** Milliseconds for which the service keeps results. */
  readonly retention: number;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/**
 * Reads the store, the ledger and the speech service. Only the service's answer when nobody knows the job: as long as the index
 * does not reach as far back as the service keeps results, lacks segments, or cannot take what is new, the answer is what was found so far, maybe nothing.
 * Only what has a source in `scope` exists of a job that belongs to other sources too; a job without anything of the kind is
 * unknown.
 */
export async function inspectJob(
  parts: InspectParts,
  jobId: string,
  scope: SourceScope = null,
): Promise<Job | NoRecord> {
  const [near, mark] = await Promise.all([
    readArtefacts(parts.store, parts.keyPrefixes, jobId),
    readErasure(parts.store, jobId),
    parts.fresh(),
  ]);
  const known = [...sourcesOf(near), ...(await parts.view.sourcesOfJob(jobId))];
  const bodies = known.length === 0 ? await ownBodies(parts, jobId, scope) : [];
  const sources = [...known, ...sourcesOfBodies(bodies, scope)];
  // Before lines are read: how long the answer takes must not tell a token of some sources what others have of the job.
  const { lines, places, index, isCut } =
    extentOf(sources, scope) === 'none'
      ? { lines: [], places: new Map(), index: parts.view.extent(), isCut: false }
      : await readJobLines(parts.store, parts.view, jobId, storedAt(near, bodies, scope));
  const own = lines.filter(({ source }) => isInScope(scope, source));
  const far = await readArtefacts(parts.store, otherPrefixes(parts.keyPrefixes, own, jobId), jobId);
  const found = [...near, ...far];
  const extent = extentOf([...sources, ...sourcesOf(far)], scope);
  const isVisible = ({ source }: LedgerLine) =>
    source === null ? extent === 'all' : isInScope(scope, source);
  const timeline = lines.filter(isVisible);
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
  const isKnown = visible.length + timeline.length + bodies.length > 0 || mark !== null;
  const isWhole = hasAllSince(index, parts.clock() - parts.retention) && parts.view.status().error === null;
  if ((extent === 'none' || !isKnown) && serviceAnswer !== 'found' && isWhole) return serviceAnswer;
  const artefacts = countingFirst(visible.map((artefact) => describeArtefact(artefact, timeline)));
  const present = new Set(found.map(({ info }) => info.key));
  const { expired, lost } =
    mark === null ? await absentOfJob(parts, timeline, present) : { expired: [], lost: [] };
  const erasure =
    extent === 'all' && mark !== null
      ? { erasedAt: mark.erasedAt, complete: mark.complete, keptUntil: mark.keptUntil }
      : null;
  const failure = failureOf(lines, scope);
  const events = extent === 'none' ? [] : await parts.jobEvents(jobId, timeline, places, scope);
  return {
    ...{ jobId, artefacts, timeline, isCut, failure, expired, lost, erasure, events },
    ...{ index, service, serviceAnswer },
  };
}

function countingFirst(artefacts: readonly Artefact[]): Artefact[] {
  return [...artefacts.filter((each) => !isConflict(each)), ...artefacts.filter(isConflict)];
}

/** Open failure of a job, by the rules of the list of failures. */
function failureOf(lines: readonly LedgerLine[], scope: SourceScope): Job['failure'] {
  const open = openFailure(lines, ({ source }) => isInScope(scope, source));
  return open && { outcome: open.outcome, reason: open.reason, receivedAt: open.receivedAt };
}

/** How much of a job belongs to the sources of a client. */
export type JobExtent = 'all' | 'some' | 'none';

/** The same as `isKnownHere`, and whether everything that is known of the job belongs to sources in `scope`. */
export async function jobExtent(parts: InspectParts, jobId: string, scope: SourceScope): Promise<JobExtent> {
  if (scope === null) return (await isKnownHere(parts, jobId)) ? 'all' : 'none';
  const [found, bodies] = await Promise.all([
    readArtefacts(parts.store, parts.keyPrefixes, jobId),
    ownBodies(parts, jobId, scope),
    parts.fresh(),
  ]);
  const sources = await parts.view.sourcesOfJob(jobId);
  const known = [...sourcesOf(found), ...sources, ...sourcesOfBodies(bodies, scope)];
  if (extentOf(known, scope) !== 'all') return extentOf(known, scope);
  const far = await readArtefacts(parts.store, await otherPrefixesOf(parts, jobId, scope), jobId);
  return extentOf([...known, ...sourcesOf(far)], scope);
}

/** An artefact without a source could be anybody's. */
function sourcesOf(found: readonly { readonly info: ObjectInfo }[]): (string | null)[] {
  return found.map(({ info }) => info.metadata.source ?? null);
}

/** A quarantined body, and its source; undefined for one that is gone, or that was not asked for. */
interface OwnBody extends QuarantinedBody {
  readonly source: string | null | undefined;
}

/** The bodies of a job, with their sources for a client that may see some. */
async function ownBodies(
  { store, quarantine }: Pick<InspectParts, 'store' | 'quarantine'>,
  jobId: string,
  scope: SourceScope,
): Promise<OwnBody[]> {
  const bodies = await quarantinedBodies(store, jobId);
  if (scope === null) return bodies.map((body) => ({ ...body, source: undefined }));
  return Promise.all(
    bodies.map(async (body) => ({ ...body, source: (await quarantine.request(body.id))?.source })),
  );
}

function sourcesOfBodies(bodies: readonly OwnBody[], scope: SourceScope): (string | null)[] {
  return scope === null ? [] : bodies.flatMap(({ source }) => (source === undefined ? [] : [source]));
}

/** When something was stored of a job that a client may see, in milliseconds since the epoch. */
function storedAt(
  found: readonly { readonly info: ObjectInfo }[],
  bodies: readonly OwnBody[],
  scope: SourceScope,
): number[] {
  const artefacts = found.filter(({ info }) => isInScope(scope, info.metadata.source));
  const own = bodies.filter(({ source }) => isInScope(scope, source));
  return [
    ...artefacts.flatMap(({ info }) => [
      info.modifiedAt.getTime(),
      Date.parse(info.metadata['received-at'] ?? ''),
    ]),
    ...own.map(({ receivedAt }) => Date.parse(receivedAt ?? '')),
  ].filter(Number.isFinite);
}

function extentOf(sources: readonly (string | null)[], scope: SourceScope): JobExtent {
  if (scope === null || (sources.length > 0 && sources.every((source) => isInScope(scope, source))))
    return 'all';
  return sources.some((source) => isInScope(scope, source)) ? 'some' : 'none';
}

/** Whether the job was erased, or has artefacts, quarantined bodies or lines in the index; the speech service is not asked. */
export async function isKnownHere(parts: InspectParts, jobId: string): Promise<boolean> {
  for await (const _object of listJobObjects(parts.store, parts.keyPrefixes, jobId)) return true;
  if (await isErased(parts.store, jobId)) return true;
  await parts.fresh();
  const { deliveries } = await parts.view.deliveries({ job: jobId, limit: 1 });
  return deliveries.length > 0 || (await quarantinedBodies(parts.store, jobId)).length > 0;
}

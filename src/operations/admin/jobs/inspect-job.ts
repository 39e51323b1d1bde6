import { type Artefact, describeArtefact, readArtefacts } from '../../../archive/artefacts.js';
import { readErasure } from '../../../archive/erasure/erasure.js';
import type { LedgerLine } from '../../../domain/delivery.js';
import { openFailure } from '../../../domain/failure-rules.js';
import type { NoRecord } from '../../../domain/job-state.js';
import { isConflict } from '../../../domain/next-steps.js';
import { isInScope, type SourceScope } from '../../../domain/rights.js';
import { hasAllSince } from '../../../index/index-extent.js';
import type { LedgerView } from '../../../index/ledger-view.js';
import type { RetentionView } from '../../../recovery/retention/retention-view.js';
import type { ObjectInfo } from '../../../store/object-store.js';
import { otherPrefixes } from '../../actions/other-prefixes.js';
import type { Job } from '../../answers/jobs.js';
import type { JobEvents } from '../subscribers/job-events.js';
import { absentOfJob } from './absent-of-job.js';
import { findServiceRecord, type RecordSource } from './find-service-record.js';
import {
  type ExtentParts,
  extentWithin,
  type OwnBody,
  ownBodies,
  sourcesOf,
  sourcesOfBodies,
} from './job-extent.js';
import { readJobLines } from './job-lines.js';

export interface InspectParts extends ExtentParts {
  readonly view: ExtentParts['view'] & Pick<LedgerView, 'search' | 'extent' | 'extentNow' | 'status'>;
  readonly records: RecordSource;
  readonly retained: RetentionView;
  readonly jobEvents: JobEvents;
  /** Milliseconds for which the service keeps results. */
  readonly retention: number;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/**
 * Collects the state of a job from store, ledger and speech service; for an unknown job only the service's answer. A job counts as unknown
 * only if the index reaches as far back as the service keeps results, has no gap and is up to date; otherwise the answer is what was found
 * so far, which may be nothing.
 *
 * @param scope limits the answer to these sources, if the job also belongs to others
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
  const before = parts.view.extent();
  const known = [...sourcesOf(near), ...(await parts.view.sourcesOfJob(jobId))];
  const bodies = known.length === 0 ? await ownBodies(parts, jobId, scope) : [];
  const sources = [...known, ...sourcesOfBodies(bodies, scope)];
  // Lines are not read for a job out of scope, so that the response time does not reveal what other sources have of it.
  const { lines, places, index, isCut } =
    extentWithin(sources, scope) === 'none'
      ? { lines: [], places: new Map(), index: before, isCut: false }
      : await readJobLines(parts.store, parts.view, jobId, storedAt(near, bodies, scope));
  const own = lines.filter(({ source }) => isInScope(scope, source));
  const far = await readArtefacts(parts.store, otherPrefixes(parts.keyPrefixes, own, jobId), jobId);
  const found = [...near, ...far];
  const extent = extentWithin([...sources, ...sourcesOf(far)], scope);
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
  const erased = mark ?? (found.length === 0 ? erasureIn(timeline) : null);
  const { expired, lost } =
    erased === null ? await absentOfJob(parts, timeline, present) : { expired: [], lost: [] };
  const erasure =
    extent === 'all' && erased !== null
      ? { erasedAt: erased.erasedAt, complete: erased.complete, keptUntil: erased.keptUntil }
      : null;
  const failure = failureOf(lines, scope);
  const events = extent === 'none' ? [] : await parts.jobEvents(jobId, timeline, places, scope);
  return {
    jobId,
    artefacts,
    timeline,
    isCut,
    failure,
    expired,
    lost,
    erasure,
    events,
    index,
    service,
    serviceAnswer,
  };
}

/** The last erasure by the timeline, for a job whose mark is lost. */
function erasureIn(timeline: readonly LedgerLine[]): Job['erasure'] {
  const line = timeline.findLast(({ outcome }) => outcome === 'erased');
  return line === undefined ? null : { erasedAt: line.receivedAt, complete: true, keptUntil: null };
}

function countingFirst(artefacts: readonly Artefact[]): Artefact[] {
  return [...artefacts.filter((each) => !isConflict(each)), ...artefacts.filter(isConflict)];
}

/** The open failure of a job, by the rules of the list of failures. */
function failureOf(lines: readonly LedgerLine[], scope: SourceScope): Job['failure'] {
  const open = openFailure(lines, ({ source }) => isInScope(scope, source));
  return open && { outcome: open.outcome, reason: open.reason, receivedAt: open.receivedAt };
}

/** Times at which visible objects of the job were stored, in milliseconds since the epoch. */
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

import type { SourceScope } from '../../domain/rights.js';
import { sharedRead } from '../../lib/time/shared-read.js';
import type { IndexCalls } from '../index-calls.js';
import type { RecentCallbacks } from '../queries/count-callbacks.js';

/** How the callbacks of the last hour and day fared. */
export interface CallbackCounts extends RecentCallbacks {
  /** Missed callbacks of all sources together, and of each that missed some. */
  readonly missed: MissedFigures & { readonly bySource: readonly MissedOfSource[] };
}

export interface MissedFigures extends Omit<RecentCallbacks['missed'], 'bySource'> {
  /** Jobs of the last day with a callback, or one that was missed. */
  readonly ofJobs: number;
}

interface MissedOfSource extends MissedFigures {
  readonly source: string;
}

/**
 * Jobs or events that were counted, for each millisecond that their count is kept: a million takes the index a second or two, and each open
 * page asks every few seconds. So counts leave the worker of the index nine tenths of its time, however many jobs there are.
 */
export const COUNTED_PER_MS = 50;
/** The same for all jobs of the last day: new ones change their number little, and while they are counted nothing else is answered. */
const JOBS_OF_DAY_PER_MS = 5;

/**
 * Counts by name. A count is kept for a while where it has many, and shared by all who ask while it is under way; a failure is not kept.
 *
 * @param keptFor milliseconds
 * @param clock in milliseconds since the epoch
 */
export function createPacedCounts<Counted, Asked>(
  keptFor: (counted: Counted) => number,
  count: (now: number, asked: Asked) => Promise<Counted>,
  clock: () => number,
): (name: string, asked: Asked) => Promise<Counted> {
  const counts = new Map<string, (asked: Asked) => Promise<Counted>>();
  return (name, asked) => {
    const counted = counts.get(name) ?? sharedRead((all: Counted) => Math.floor(keptFor(all)), count, clock);
    counts.set(name, counted);
    return counted(asked);
  };
}

const DAY = 24 * 3_600_000;

/** Counts how callbacks fared: the names are scopes, of which there are at most as many as tokens and sources. */
export function createCallbackCounts(
  index: IndexCalls,
  clock: () => number,
): (scope: SourceScope) => Promise<CallbackCounts> {
  const counted = createPacedCounts<CallbackCounts, SourceScope>(
    ({ missed }) => missed.ofJobs / COUNTED_PER_MS,
    count,
    clock,
  );
  const jobsOfDay = createPacedCounts<ReadonlyMap<string | null, number>, SourceScope>(
    (jobs) => (jobs.get(null) ?? 0) / JOBS_OF_DAY_PER_MS,
    (now, scope) => index.call('countJobs', { since: now - DAY, scope }),
    clock,
  );
  const nameOf = (scope: SourceScope) => JSON.stringify(scope && [...scope].sort());

  async function count(now: number, scope: SourceScope): Promise<CallbackCounts> {
    const { missed, ...counts } = await index.call('countCallbacks', { now, scope });
    const { daySince: since } = counts;
    // While the index is being built there are soon many more.
    const jobs = await (since <= now - DAY
      ? jobsOfDay(nameOf(scope), scope)
      : index.call('countJobs', { since, scope }));
    const ofJobs = (source: string | null) => jobs.get(source) ?? 0;
    const bySource = missed.bySource.map((each) => ({ ...each, ofJobs: ofJobs(each.source) }));
    return { ...counts, missed: { ...missed, ofJobs: ofJobs(null), bySource } };
  }

  return (scope) => counted(nameOf(scope), scope);
}

import type { SourceScope } from '../../domain/rights.js';
import { sharedRead } from '../../lib/time/shared-read.js';
import type { IndexCalls } from '../index-calls.js';
import type { RecentCallbacks } from '../queries/count-callbacks.js';

/** Accepted, refused and missed callbacks of the last hour and day. */
export interface CallbackCounts extends RecentCallbacks {
  /** Missed callbacks of all sources together, and of each source that has some. */
  readonly missed: MissedFigures & { readonly bySource: readonly MissedOfSource[] };
}

export interface MissedFigures extends Omit<RecentCallbacks['missed'], 'bySource'> {
  /** Jobs of the last day with an accepted or missed callback. */
  readonly ofJobs: number;
}

interface MissedOfSource extends MissedFigures {
  readonly source: string;
}

/**
 * Counted jobs or events per millisecond for which a count is cached. A million takes the index a second or two, and each open page polls
 * them every few seconds; with this limit counting takes a tenth of the index worker's time, however many jobs there are.
 */
export const COUNTED_PER_MS = 50;
/** The same for all jobs of the last day: new ones change their number little, and counting them blocks all other questions. */
const JOBS_OF_DAY_PER_MS = 5;

/**
 * Caches counts by name, large ones for longer, and shares a count in flight among its callers. A failure is not cached.
 *
 * @param maxAge milliseconds
 * @param clock in milliseconds since the epoch
 */
export function createCachedCounts<Counted, Query>(
  maxAge: (counted: Counted) => number,
  count: (now: number, query: Query) => Promise<Counted>,
  clock: () => number,
): (name: string, query: Query) => Promise<Counted> {
  const counts = new Map<string, (query: Query) => Promise<Counted>>();
  return (name, query) => {
    const counted = counts.get(name) ?? sharedRead((all: Counted) => Math.floor(maxAge(all)), count, clock);
    counts.set(name, counted);
    return counted(query);
  };
}

const DAY = 24 * 3_600_000;

/** Cached counts of callbacks by scope, of which there are at most as many as tokens and sources. */
export function createCallbackCounts(
  index: IndexCalls,
  clock: () => number,
): (scope: SourceScope) => Promise<CallbackCounts> {
  const counted = createCachedCounts<CallbackCounts, SourceScope>(
    ({ missed }) => missed.ofJobs / COUNTED_PER_MS,
    count,
    clock,
  );
  const jobsOfDay = createCachedCounts<ReadonlyMap<string | null, number>, SourceScope>(
    (jobs) => (jobs.get(null) ?? 0) / JOBS_OF_DAY_PER_MS,
    (now, scope) => index.call('countJobs', { since: now - DAY, scope }),
    clock,
  );
  const nameOf = (scope: SourceScope) => JSON.stringify(scope && [...scope].sort());

  async function count(now: number, scope: SourceScope): Promise<CallbackCounts> {
    const { missed, ...counts } = await index.call('countCallbacks', { now, scope });
    const { daySince: since } = counts;
    // While the index is being built, a cached number would soon be outdated.
    const jobs = await (since <= now - DAY
      ? jobsOfDay(nameOf(scope), scope)
      : index.call('countJobs', { since, scope }));
    const ofJobs = (source: string | null) => jobs.get(source) ?? 0;
    const bySource = missed.bySource.map((each) => ({ ...each, ofJobs: ofJobs(each.source) }));
    return { ...counts, missed: { ...missed, ofJobs: ofJobs(null), bySource } };
  }

  return (scope) => counted(nameOf(scope), scope);
}

import type { SourceScope } from '../../domain/rights.js';
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
export function createPacedCounts<Counted>(keptFor: (counted: Counted) => number, clock: () => number) {
  const kept = new Map<
    string,
    { readonly at: number; readonly for: number; readonly counted: Promise<Counted> }
  >();

  async function keep(name: string, count: () => Promise<Counted>): Promise<Counted> {
    try {
      const counted = await count();
      kept.set(name, { at: clock(), for: Math.floor(keptFor(counted)), counted: Promise.resolve(counted) });
      return counted;
    } catch (error) {
      kept.delete(name);
      throw error;
    }
  }

  return (name: string, count: () => Promise<Counted>): Promise<Counted> => {
    const known = kept.get(name);
    // A clock that was set back must not keep it for as long.
    if (known !== undefined && Math.abs(clock() - known.at) < known.for) return known.counted;
    const counted = keep(name, count);
    kept.set(name, { at: 0, for: Number.POSITIVE_INFINITY, counted });
    return counted;
  };
}

const DAY = 24 * 3_600_000;

/** Counts how callbacks fared: the names are scopes, of which there are at most as many as tokens and sources. */
export function createCallbackCounts(
  index: IndexCalls,
  clock: () => number,
): (scope: SourceScope) => Promise<CallbackCounts> {
  const counted = createPacedCounts<CallbackCounts>(({ missed }) => missed.ofJobs / COUNTED_PER_MS, clock);
  const jobsOfDay = createPacedCounts<ReadonlyMap<string | null, number>>(
    (jobs) => (jobs.get(null) ?? 0) / JOBS_OF_DAY_PER_MS,
    clock,
  );

  async function count(name: string, scope: SourceScope): Promise<CallbackCounts> {
    const now = clock();
    const { missed, ...counts } = await index.call('countCallbacks', { now, scope });
    const countJobs = () => index.call('countJobs', { since: counts.daySince, scope });
    // While the index is being built there are soon many more.
    const jobs = await (counts.daySince <= now - DAY ? jobsOfDay(name, countJobs) : countJobs());
    const ofJobs = (source: string | null) => jobs.get(source) ?? 0;
    const bySource = missed.bySource.map((each) => ({ ...each, ofJobs: ofJobs(each.source) }));
    return { ...counts, missed: { ...missed, ofJobs: ofJobs(null), bySource } };
  }

  return (scope) => {
    const name = JSON.stringify(scope && [...scope].sort());
    return counted(name, () => count(name, scope));
  };
}

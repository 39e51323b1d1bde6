import type { SourceScope } from '../../domain/rights.js';
import type { IndexCalls } from '../index-calls.js';
import type { CallbackCounts } from '../queries/count-callbacks.js';

/**
 * Jobs or events that were counted, for each millisecond that their count is kept: a million takes the index a second or two, and each open
 * page asks every few seconds. So counts leave the worker of the index nine tenths of its time, however many jobs there are.
 */
const COUNTED_PER_MS = 50;

/**
 * Counts by name. A count is kept for a while where it has many, and shared by all who ask while it is under way; a failure is not kept.
 *
 * @param sizeOf jobs or events that were counted
 * @param clock in milliseconds since the epoch
 */
export function createPacedCounts<Counted>(sizeOf: (counted: Counted) => number, clock: () => number) {
  const kept = new Map<string, { readonly until: number; readonly counted: Promise<Counted> }>();

  async function keep(name: string, count: () => Promise<Counted>): Promise<Counted> {
    try {
      const counted = await count();
      const until = clock() + Math.floor(sizeOf(counted) / COUNTED_PER_MS);
      kept.set(name, { until, counted: Promise.resolve(counted) });
      return counted;
    } catch (error) {
      kept.delete(name);
      throw error;
    }
  }

  return (name: string, count: () => Promise<Counted>): Promise<Counted> => {
    const known = kept.get(name);
    if (known !== undefined && clock() < known.until) return known.counted;
    const counted = keep(name, count);
    kept.set(name, { until: Number.POSITIVE_INFINITY, counted });
    return counted;
  };
}

/** The same for all jobs of the last day: new ones change their number little, and while they are counted nothing else is answered. */
const JOBS_OF_DAY_PER_MS = 5;
const DAY = 24 * 3_600_000;

/** Counts how callbacks fared: the names are scopes, of which there are at most as many as tokens. */
export function createCallbackCounts(
  index: IndexCalls,
  clock: () => number,
): (scope: SourceScope) => Promise<CallbackCounts> {
  const counted = createPacedCounts<CallbackCounts>(({ missed }) => missed.ofJobs, clock);
  const jobsOfDay = new Map<string, { readonly until: number; readonly jobs: number }>();

  async function count(name: string, scope: SourceScope): Promise<CallbackCounts> {
    const now = clock();
    const kept = jobsOfDay.get(name);
    if (kept !== undefined && now < kept.until)
      return index.call('countCallbacks', { now, scope, ofJobs: kept.jobs });
    const counts = await index.call('countCallbacks', { now, scope });
    const jobs = counts.missed.ofJobs;
    // While the index is being built there are soon many more.
    const isWhole = counts.daySince <= now - DAY;
    if (isWhole) jobsOfDay.set(name, { until: clock() + Math.floor(jobs / JOBS_OF_DAY_PER_MS), jobs });
    return counts;
  }

  return (scope) => {
    const name = JSON.stringify(scope && [...scope].sort());
    return counted(name, () => count(name, scope));
  };
}

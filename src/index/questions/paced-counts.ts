import type { SourceScope } from '../../domain/rights.js';
import type { IndexCalls } from '../index-calls.js';
import type { CallbackCounts } from '../queries/count-callbacks.js';

/**
 * Jobs or events that were counted, for each millisecond that their count is kept: a million takes the index a second or two, and each open
 * page asks every few seconds. So counts leave the worker of the index nine tenths of its time, however many jobs there are.
 */
export const COUNTED_PER_MS = 50;

/**
 * Counts how callbacks fared, and keeps a count for a while where there are many.
 *
 * @param clock in milliseconds since the epoch
 */
export function createPacedCounts(index: IndexCalls, clock: () => number) {
  /** Counts that are kept, by scope: there are at most as many as tokens. */
  const kept = new Map<string, { readonly until: number; readonly counts: Promise<CallbackCounts> }>();

  async function count(name: string, scope: SourceScope): Promise<CallbackCounts> {
    try {
      const counts = await index.call('countCallbacks', { now: clock(), scope });
      const until = clock() + Math.floor(counts.missed.ofJobs / COUNTED_PER_MS);
      kept.set(name, { until, counts: Promise.resolve(counts) });
      return counts;
    } catch (error) {
      kept.delete(name);
      throw error;
    }
  }

  return (scope: SourceScope): Promise<CallbackCounts> => {
    const name = JSON.stringify(scope && [...scope].sort());
    const known = kept.get(name);
    if (known !== undefined && clock() < known.until) return known.counts;
    const counts = count(name, scope);
    // Callers share the count that is under way.
    kept.set(name, { until: Number.POSITIVE_INFINITY, counts });
    return counts;
  };
}

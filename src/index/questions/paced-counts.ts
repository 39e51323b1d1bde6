import type { SourceScope } from '../../domain/rights.js';
import type { IndexCalls } from '../index-calls.js';
import type { CallbackCounts } from '../queries/count-callbacks.js';

/** Jobs of a day from which on a count is kept, and for how many milliseconds. */
const MANY_JOBS = 100_000;
const KEPT = 10_000;

/**
 * Counts how callbacks fared. A day of a million callbacks takes the better part of a second, and each open page asks every few seconds: such
 * a count is kept for a while, so that the worker of the index has time for other questions.
 *
 * @param clock in milliseconds since the epoch
 * @param many jobs of a day from which on a count is kept
 */
export function createPacedCounts(index: IndexCalls, clock: () => number, many = MANY_JOBS) {
  /** Counts that are kept, by scope: there are at most as many as tokens. */
  const kept = new Map<string, { readonly until: number; readonly counts: Promise<CallbackCounts> }>();

  async function count(name: string, scope: SourceScope): Promise<CallbackCounts> {
    try {
      const counts = await index.call('countCallbacks', { now: clock(), scope });
      if (counts.missed.ofJobs < many) kept.delete(name);
      else kept.set(name, { until: clock() + KEPT, counts: Promise.resolve(counts) });
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

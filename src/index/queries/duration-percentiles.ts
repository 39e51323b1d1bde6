import type { Percentiles } from '../../domain/summary-figures.js';

/** Each bucket is 5 % wider than the one before: the relative error of a percentile is below that. */
const GROWTH = Math.log(1.05);
/** The last bucket holds all durations above 17 days. */
const BUCKETS = 434;

/** Index of the bucket of a duration in milliseconds. */
export function durationBucket(milliseconds: number): number {
  return milliseconds <= 1 ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log(milliseconds) / GROWTH));
}

/** The longest duration of a bucket, in milliseconds. */
export function longestOfBucket(bucket: number): number {
  return Math.round(Math.exp(bucket * GROWTH) * 10) / 10;
}

/**
 * Percentiles of durations in milliseconds; null without durations.
 *
 * @param counts durations by bucket
 * @param max the longest duration
 */
export function percentilesOf(counts: ReadonlyMap<number, number>, max: number): Percentiles | null {
  const buckets = [...counts].sort(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);

  function percentile(share: number): number {
    let left = Math.ceil(total * share);
    for (const [bucket, count] of buckets) {
      left -= count;
      if (left <= 0) return Math.min(max, longestOfBucket(bucket));
    }
    return max;
  }

  return total === 0 ? null : { p50: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99), max };
}

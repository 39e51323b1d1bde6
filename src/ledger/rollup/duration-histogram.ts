export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** A histogram of durations in milliseconds, with buckets of the same relative width. */
export interface DurationHistogram {
  readonly buckets: Uint32Array;
  add(milliseconds: number): void;
  /** Adds durations that are known as counts by bucket and the longest. */
  addCounts(counts: Iterable<readonly [bucket: number, count: number]>, longest: number): void;
  max(): number;
  /** Null without durations. */
  percentiles(): Percentiles | null;
}

/** Each bucket is 5 % wider than the one before: the relative error of a percentile is below that. */
const GROWTH = Math.log(1.05);
/** The last bucket holds all durations above 17 days. */
const BUCKETS = 434;

/** Index of the bucket of a duration in milliseconds. */
export function durationBucket(milliseconds: number): number {
  return milliseconds <= 1 ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log(milliseconds) / GROWTH));
}

export function createDurationHistogram(): DurationHistogram {
  const buckets = new Uint32Array(BUCKETS);
  let max = 0;

  function addCounts(counts: Iterable<readonly [number, number]>, longest: number): void {
    for (const [bucket, count] of counts) buckets[bucket] = (buckets[bucket] ?? 0) + count;
    max = Math.max(max, longest);
  }

  function percentile(total: number, share: number): number {
    let left = Math.ceil(total * share);
    for (const [bucket, count] of buckets.entries()) {
      left -= count;
      if (left <= 0) return Math.min(max, Math.round(Math.exp(bucket * GROWTH) * 10) / 10);
    }
    return max;
  }

  return {
    buckets,
    max: () => max,
    add(milliseconds) {
      const bucket = durationBucket(milliseconds);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
      if (milliseconds > max) max = milliseconds;
    },
    addCounts,
    percentiles() {
      const total = buckets.reduce((sum, count) => sum + count, 0);
      if (total === 0) return null;
      return { p50: percentile(total, 0.5), p95: percentile(total, 0.95), p99: percentile(total, 0.99), max };
    },
  };
}

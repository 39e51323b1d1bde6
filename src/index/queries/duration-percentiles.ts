export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** A histogram of durations in milliseconds, with buckets of the same relative width. */
export interface DurationHistogram {
  add(milliseconds: number): void;
  /** Adds durations that are known as bucket, count, bucket, count … and the longest. */
  addCounts(counts: ArrayLike<number>, longest: number): void;
  /** In that form. */
  counts(): Uint32Array;
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

  function percentile(total: number, share: number): number {
    let left = Math.ceil(total * share);
    for (const [bucket, count] of buckets.entries()) {
      left -= count;
      if (left <= 0) return Math.min(max, Math.round(Math.exp(bucket * GROWTH) * 10) / 10);
    }
    return max;
  }

  return {
    max: () => max,
    add(milliseconds) {
      const bucket = durationBucket(milliseconds);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
      if (milliseconds > max) max = milliseconds;
    },
    addCounts(counts, longest) {
      for (let index = 0; index < counts.length; index += 2) {
        const bucket = counts[index] ?? 0;
        buckets[bucket] = (buckets[bucket] ?? 0) + (counts[index + 1] ?? 0);
      }
      max = Math.max(max, longest);
    },
    counts() {
      const pairs: number[] = [];
      buckets.forEach((count, bucket) => {
        if (count > 0) pairs.push(bucket, count);
      });
      return Uint32Array.from(pairs);
    },
    percentiles() {
      const total = buckets.reduce((sum, count) => sum + count, 0);
      if (total === 0) return null;
      return { p50: percentile(total, 0.5), p95: percentile(total, 0.95), p99: percentile(total, 0.99), max };
    },
  };
}

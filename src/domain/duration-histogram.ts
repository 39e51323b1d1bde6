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
  addAll(other: DurationHistogram): void;
  max(): number;
  /** Null without durations. */
  percentiles(): Percentiles | null;
}

/** Each bucket is 5 % wider than the one before: the relative error of a percentile is below that. */
const GROWTH = Math.log(1.05);
/** The last bucket holds all durations above 17 days. */
const BUCKETS = 434;

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
    buckets,
    max: () => max,
    add(milliseconds) {
      const bucket =
        milliseconds <= 1 ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log(milliseconds) / GROWTH));
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
      max = Math.max(max, milliseconds);
    },
    addAll(other) {
      for (const [bucket, count] of other.buckets.entries()) {
        buckets[bucket] = (buckets[bucket] ?? 0) + count;
      }
      max = Math.max(max, other.max());
    },
    percentiles() {
      const total = buckets.reduce((sum, count) => sum + count, 0);
      if (total === 0) return null;
      return { p50: percentile(total, 0.5), p95: percentile(total, 0.95), p99: percentile(total, 0.99), max };
    },
  };
}

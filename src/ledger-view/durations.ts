export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** Durations in milliseconds, gathered in a histogram of fixed relative width. */
export interface Durations {
  readonly steps: Uint32Array;
  add(milliseconds: number): void;
  addAll(other: Durations): void;
  max(): number;
  /** Null when there is nothing to rank. */
  percentiles(): Percentiles | null;
}

/** Each step is 5 % longer than the one before: percentiles are right to that, without sorting anything. */
const GROWTH = Math.log(1.05);
/** The last step holds what took longer than 17 days. */
const STEPS = 434;

export function createDurations(): Durations {
  const steps = new Uint32Array(STEPS);
  let max = 0;

  function percentile(total: number, share: number): number {
    let left = Math.ceil(total * share);
    for (const [step, count] of steps.entries()) {
      left -= count;
      if (left <= 0) return Math.min(max, Math.round(Math.exp(step * GROWTH) * 10) / 10);
    }
    return max;
  }

  return {
    steps,
    max: () => max,
    add(milliseconds) {
      const step = milliseconds <= 1 ? 0 : Math.min(STEPS - 1, Math.ceil(Math.log(milliseconds) / GROWTH));
      steps[step] = (steps[step] ?? 0) + 1;
      max = Math.max(max, milliseconds);
    },
    addAll(other) {
      for (const [step, count] of other.steps.entries()) steps[step] = (steps[step] ?? 0) + count;
      max = Math.max(max, other.max());
    },
    percentiles() {
      const total = steps.reduce((sum, count) => sum + count, 0);
      if (total === 0) return null;
      return { p50: percentile(total, 0.5), p95: percentile(total, 0.95), p99: percentile(total, 0.99), max };
    },
  };
}

import type { Clock } from '../../src/lib/time/clock.js';

export interface ManualClock extends Clock {
  /** Every requested wait, in milliseconds. */
  readonly slept: readonly number[];
  advance(ms: number): void;
}

/** A clock that moves only by `advance` and by `sleep`, which returns at once. */
export function manualClock(start = Date.parse('2026-01-01T00:00:00Z')): ManualClock {
  let now = start;
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    advance: (ms) => {
      now += ms;
    },
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      slept.push(ms);
      now += ms;
    },
  };
}

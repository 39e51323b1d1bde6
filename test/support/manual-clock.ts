import type { Clock } from '../../src/time/clock.js';

export interface ManualClock extends Clock {
  /** Every wait asked for, in milliseconds. */
  readonly slept: readonly number[];
  advance(ms: number): void;
}

/** Time that passes only when told to, or when somebody sleeps: then at once. */
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

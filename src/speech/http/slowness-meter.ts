import type { Clock } from '../../lib/time/clock.js';

/** How slowly a body may come. */
export interface Pace {
  readonly clock: Clock;
  readonly minBytesPerSecond: number;
  /** Milliseconds of waiting for the service over which the rate is judged. */
  readonly window: number;
}

/** Says, chunk by chunk, whether fewer bytes came within a window of waiting than the minimum rate asks for. */
export function slownessMeter({ minBytesPerSecond, window }: Pace) {
  let waited = 0;
  let bytes = 0;
  return (waitedMs: number, length: number): boolean => {
    waited += waitedMs;
    bytes += length;
    if (waited < window) return false;
    const slow = bytes < (minBytesPerSecond * waited) / 1000;
    waited = 0;
    bytes = 0;
    return slow;
  };
}

export function tooSlow({ minBytesPerSecond }: Pace): string {
  return `the body came more slowly than ${minBytesPerSecond} bytes per second`;
}

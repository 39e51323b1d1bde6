import { setTimeout as delay } from 'node:timers/promises';

/** Time as the simulator sees it: retry intervals of minutes pass in milliseconds where a test wants them to. */
export interface Timing {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`; rejects when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's clock, with every wait multiplied by `scale` (0.001 turns 15 s into 15 ms). */
export function scaledTiming(scale: number, now: () => number = Date.now): Timing {
  return {
    now,
    sleep: (ms, signal) => delay(ms * scale, undefined, signal ? { signal } : {}),
  };
}

import { setTimeout as delay } from 'node:timers/promises';

/** Time as a client sees it, so that tests need not wait for retry intervals. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's clock, with every wait multiplied by `scale` (0.001 turns 15 s into 15 ms). */
export function scaledClock(scale: number): Clock {
  return {
    now: Date.now,
    sleep: (ms, signal) => delay(ms * scale, undefined, signal ? { signal } : {}),
  };
}

export const systemClock = scaledClock(1);

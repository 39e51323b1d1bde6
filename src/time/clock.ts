import { setTimeout as delay } from 'node:timers/promises';

/** Time as a client sees it, so that tests need not wait for retry intervals. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) => delay(ms, undefined, signal ? { signal } : {}),
};

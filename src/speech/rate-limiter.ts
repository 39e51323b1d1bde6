import type { Clock } from './clock.js';

export interface RateLimiter {
  /** Resolves, in order of asking, when the next request may go out. */
  take(signal?: AbortSignal): Promise<void>;
  /** Lets nothing out for `ms`: what a 429 says to one request holds for all. */
  pause(ms: number): void;
}

/** A token bucket: `perSecond` on average, up to `burst` at once after a quiet time. */
export function createRateLimiter(perSecond: number, burst: number, clock: Clock): RateLimiter {
  const interval = 1000 / perSecond;
  let nextAt = 0;
  let notBefore = 0;
  return {
    async take(signal) {
      const now = clock.now();
      nextAt = Math.max(nextAt, now - (burst - 1) * interval);
      const wait = Math.max(nextAt, notBefore) - now;
      nextAt += interval;
      if (wait > 0) await clock.sleep(wait, signal);
    },
    pause(ms) {
      notBefore = Math.max(notBefore, clock.now() + ms);
    },
  };
}

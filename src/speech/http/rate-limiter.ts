import { type Clock, systemClock } from '../../lib/time/clock.js';
import { SpeechError } from '../speech-error.js';

export type RateLimiter = ReturnType<typeof createRateLimiter>;

interface RateLimits {
  /** Average rate, and size of a burst after a quiet time. */
  readonly perSecond: number;
  /** Longest total pause of requests without a success in between. */
  readonly maxPauseMs: number;
}

/** Monotonic: if the system clock were set back, the next request would wait for as long. */
const MONOTONIC_CLOCK: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  sleep: systemClock.sleep,
};

/** When the next request to one region may go out: a token bucket that the service can pause. */
export function createRateLimiter({ perSecond, maxPauseMs }: RateLimits, clock: Clock = MONOTONIC_CLOCK) {
  const interval = 1000 / perSecond;
  let nextAt = 0;
  let resumesAt = 0;
  let pausedMs = 0;

  const isTooLong = () => pausedMs > maxPauseMs && clock.now() < resumesAt;

  async function waitOutPauses(operation: string, signal?: AbortSignal): Promise<void> {
    while (clock.now() < resumesAt) {
      if (isTooLong()) throw pausedError(operation, resumesAt, clock.now());
      await clock.sleep(Math.max(0, resumesAt - clock.now()), signal);
    }
  }

  return {
    /**
     * Resolves, in order of asking, when a request may go out. Rejects with `paused` while the service asks for a
     * longer pause than `maxPauseMs`.
     */
    async take(operation: string, signal?: AbortSignal): Promise<void> {
      do {
        await waitOutPauses(operation, signal);
        nextAt = Math.max(nextAt, clock.now() - (perSecond - 1) * interval);
        const wait = nextAt - clock.now();
        nextAt += interval;
        if (wait > 0) await clock.sleep(wait, signal);
        // Another request may have been asked for a pause meanwhile.
      } while (clock.now() < resumesAt);
    },
    /**
     * Pauses all requests to the region for `ms`, which the service asked of one of them. False when that is longer than requests
     * wait.
     */
    pause(ms: number): boolean {
      const now = clock.now();
      if (now - resumesAt > maxPauseMs) pausedMs = 0;
      const until = Math.max(resumesAt, now + ms);
      pausedMs += until - Math.max(resumesAt, now);
      resumesAt = until;
      // Requests that waited go out at the usual rate afterwards, not all at once.
      nextAt = Math.max(nextAt, resumesAt);
      return !isTooLong();
    },
    /** A request succeeded: pauses are counted from zero. */
    succeeded(): void {
      pausedMs = 0;
    },
  };
}

function pausedError(operation: string, resumesAt: number, now: number): SpeechError {
  const until = new Date(resumesAt).toISOString();
  const text = `not sent, because the service asked for a pause until ${until}`;
  return new SpeechError('paused', operation, text, { retryAfterMs: resumesAt - now });
}

import { pauseAfterFailures } from '../../lib/time/retry.js';

export type Breaker = ReturnType<typeof createBreaker>;

interface BreakerOptions {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  /** Called when it opens and closes. */
  readonly onChange: (isOpen: boolean) => void;
  /** Pause before the first probe, in milliseconds; doubles with each that fails. Default 5,000. */
  readonly firstPause?: number | undefined;
  /**
   * Milliseconds since the epoch: the breaker of the replica that was here before was open. This one probes at once: the address may
   * have been corrected.
   */
  readonly openSince?: number | null;
}

/** Failures in a row that open it. */
const FAILURES = 5;
const LONGEST_PAUSE = 300_000;
/** Upper bound of what a `Retry-After` stops. */
const LONGEST_RETRY_AFTER = 3_600_000;

/** Stops sending to an address that fails: while it is open, one request at a time tries whether it works again. */
export function createBreaker({ clock, random, onChange, firstPause = 5_000, ...options }: BreakerOptions) {
  let openSince = options.openSince ?? null;
  let failures = openSince === null ? 0 : FAILURES;
  let pausedUntil = clock();
  let acceptedAt = Number.NEGATIVE_INFINITY;

  return {
    /** When it opened, in milliseconds since the epoch; null while it is closed. */
    get openSince(): number | null {
      return openSince;
    },
    /** While it is open: nothing is sent before, in milliseconds since the epoch. Null while it is closed. */
    get pausedUntil(): number | null {
      return openSince === null ? null : pausedUntil;
    },
    /** When the next request may begin, given those in flight; Infinity when one has to end first. */
    mayStartAt(inFlight: number): number {
      if (openSince === null) return 0;
      return inFlight > 0 ? Number.POSITIVE_INFINITY : pausedUntil;
    },
    succeeded(): void {
      failures = 0;
      acceptedAt = clock();
      if (openSince === null) return;
      openSince = null;
      onChange(false);
    },
    /**
     * @param retryAfterMs for how long the address asks not to be sent anything
     * @param firstTriedAt of the event, in milliseconds since the epoch: one that failed before another was accepted fails by itself, which
     *   does not open the breaker
     */
    failed(retryAfterMs: number | null, firstTriedAt: number): void {
      const isOwn = firstTriedAt < acceptedAt;
      // Nothing begins during a pause: what fails then was in flight before, and shows nothing new.
      if (retryAfterMs === null && (openSince === null ? isOwn : clock() < pausedUntil)) return;
      failures += 1;
      if (failures < FAILURES && retryAfterMs === null) return;
      const further = Math.max(1, failures - FAILURES + 1);
      const pause = pauseAfterFailures(further, firstPause, LONGEST_PAUSE, random());
      const asked = Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER);
      pausedUntil = Math.max(pausedUntil, clock() + Math.max(pause, asked));
      if (openSince !== null) return;
      openSince = clock();
      onChange(true);
    },
  };
}

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
   * Milliseconds since the epoch at which the breaker of the previous sender opened. This one probes at once, because the address may have
   * been corrected.
   */
  readonly openSince?: number | null;
}

/** Consecutive failures that open it. */
const FAILURES = 5;
const LONGEST_PAUSE = 300_000;
/** Longest pause by a `Retry-After`. */
const LONGEST_RETRY_AFTER = 3_600_000;

/** Circuit breaker of an address: while it is open, one request at a time probes whether the address works again. */
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
    /** Time of the next probe, in milliseconds since the epoch; null while it is closed. */
    get pausedUntil(): number | null {
      return openSince === null ? null : pausedUntil;
    },
    /** When the next request may start, given those in flight; Infinity when one must finish first. */
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
     * @param retryAfterMs pause that the address asks for
     * @param firstTriedAt first attempt of the event, in milliseconds since the epoch. If another event was accepted since, the fault is in
     *   this event, and does not open the breaker
     */
    failed(retryAfterMs: number | null, firstTriedAt: number): void {
      const isOwn = firstTriedAt < acceptedAt;
      // No request starts during a pause: one that fails then was in flight before, and proves nothing new.
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

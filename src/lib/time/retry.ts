/** How often an attempt is repeated, and the pauses between. */
export interface Backoff {
  /** Further attempts after the first. */
  readonly retries: number;
  /** Upper bound of the first pause, in milliseconds; doubles with every attempt. */
  readonly baseDelayMs: number;
  /** Upper bound of every pause, in milliseconds. */
  readonly maxDelayMs: number;
  /** In [0, 1). */
  readonly random: () => number;
}

export interface RetryRules {
  readonly backoff: Backoff;
  /**
   * Milliseconds until the next attempt, or null when there is none. Called after every failure.
   *
   * @param delayMs the pause by the back-off; null once all attempts are spent
   */
  readonly pauseAfter: (error: unknown, delayMs: number | null) => number | null;
  /** Rejects when the signal aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Retries after the first attempt failed, until one succeeds or `pauseAfter` gives up. The first attempt is the caller's, because most
 * succeed and need no rules.
 *
 * Rejects with the error of the last attempt, or as `sleep` does.
 *
 * @param first error of the first attempt
 */
export async function retryAfter<T>(
  first: unknown,
  attempt: () => Promise<T>,
  { backoff, pauseAfter, sleep, signal }: RetryRules,
): Promise<T> {
  let error = first;
  for (let number = 1; ; number += 1) {
    const pause = pauseAfter(error, delayAfter(number, backoff));
    if (pause === null) throw error;
    if (pause > 0) await sleep(pause, signal);
    try {
      return await attempt();
    } catch (failure) {
      error = failure;
    }
  }
}

function delayAfter(failures: number, { retries, baseDelayMs, maxDelayMs, random }: Backoff): number | null {
  return failures > retries ? null : pauseAfterFailures(failures, baseDelayMs, maxDelayMs, random());
}

/**
 * A pause in milliseconds that doubles with every failure. Half of it is random, so that clients that failed together do not come back
 * together.
 *
 * @param failures from 1
 * @param first the upper bound of the first pause, `longest` that of every pause
 * @param random in [0, 1)
 */
export function pauseAfterFailures(failures: number, first: number, longest: number, random: number): number {
  return Math.min(longest, first * 2 ** Math.min(failures - 1, 30)) * (0.5 + random / 2);
}

/** Upper bound of what a server may ask for: beyond a day a wrong value is more likely than a real one. */
const MAX_RETRY_AFTER_MS = 86_400_000;

const SECONDS = /^\d+(\.\d+)?$/;
/** All three forms of an HTTP date begin with the day of the week. Source: RFC 9110, section 5.6.7. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/**
 * Milliseconds that a `Retry-After` header asks for, between 0 and one day. Null when there is no header, or one
 * that holds neither seconds nor an HTTP date.
 *
 * @param value the header as Node or undici delivers it; the first of several counts
 * @param now milliseconds since the epoch, which a date is compared with
 */
export function parseRetryAfter(value: string | readonly string[] | undefined, now: number): number | null {
  const text = [value].flat()[0]?.trim() ?? '';
  const pause = SECONDS.test(text) ? Number(text) * 1_000 : parseHttpDate(text) - now;
  return Number.isNaN(pause) ? null : Math.min(Math.max(0, pause), MAX_RETRY_AFTER_MS);
}

/** NaN for what is not a date. The oldest form names no zone and means UTC, which `Date.parse` would not assume. */
function parseHttpDate(text: string): number {
  return HTTP_DATE.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : Number.NaN;
}

import { systemClock } from '../../lib/time/clock.js';
import { type RetryRules, retry } from '../../lib/time/retry.js';
import { asFailure, isRetryable, type S3Failure } from './s3-failure.js';

export interface S3RetryPolicy {
  /** Further attempts after the first. */
  readonly retries: number;
  /** Upper bound of the first pause; doubles with every attempt up to `MAX_DELAY_MS`. */
  readonly delayMs: number;
  /** No attempt begins later than this after the first, and none after a time-out that another one of its length would exceed. */
  readonly deadlineMs: number;
  /** Aborted once the store is closed: nothing is repeated any more. */
  readonly closing?: AbortSignal;
}

const MAX_DELAY_MS = 5_000;

export interface S3RetryOptions {
  /** Ends the pauses between attempts. */
  readonly signal?: AbortSignal | undefined;
  /** Which failures are retried; default `isRetryable`. */
  readonly worthwhile?: (failure: S3Failure) => boolean;
}

/**
 * Repeats a request until it succeeds, fails for good, or attempts or time are spent.
 *
 * @throws S3Failure of the last attempt
 */
export async function withRetries<T>(
  policy: S3RetryPolicy,
  attempt: () => Promise<T>,
  options?: S3RetryOptions,
): Promise<T> {
  try {
    return await retry(attempt, s3RetryRules(policy, options));
  } catch (error) {
    throw asFailure(error);
  }
}

const TIME_OUT = /timeout|timedout/i;

/**
 * When and how often requests are repeated, for one of them. A server's Retry-After is the least pause.
 *
 * @param startedAt of the first attempt, in milliseconds of `performance.now`
 */
export function s3RetryRules(
  { retries, delayMs, deadlineMs, closing }: S3RetryPolicy,
  { signal = closing, worthwhile = isRetryable }: S3RetryOptions = {},
  startedAt = performance.now(),
): RetryRules {
  const deadline = startedAt + deadlineMs;
  let begun = startedAt;
  return {
    backoff: { retries, baseDelayMs: delayMs, maxDelayMs: MAX_DELAY_MS, random: Math.random },
    pauseAfter(error, delay) {
      const failure = asFailure(error);
      if (delay === null || closing?.aborted || !worthwhile(failure)) return null;
      const pause = Math.max(delay, failure.retryAfterMs ?? 0);
      const now = performance.now();
      // A store that is silent stays so: the sender waits for an answer.
      const expected = TIME_OUT.test(failure.code) ? now - begun : 0;
      begun = now + pause;
      return begun + expected > deadline ? null : pause;
    },
    sleep: systemClock.sleep,
    signal,
  };
}

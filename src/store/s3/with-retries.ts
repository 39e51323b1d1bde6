import { setTimeout as sleep } from 'node:timers/promises';
import { asFailure, isRetryable, type S3Failure } from './s3-failure.js';

export interface RetryPolicy {
  /** Further attempts after the first. */
  readonly retries: number;
  /** Upper bound of the first pause; doubles with every attempt up to `MAX_DELAY_MS`. */
  readonly delayMs: number;
  /** No attempt begins later than this after the first. */
  readonly deadlineMs: number;
}

const MAX_DELAY_MS = 5_000;

export interface RetryOptions {
  /** Gives up between attempts. */
  readonly signal?: AbortSignal;
  /** Which failures are worth another attempt; default `isRetryable`. */
  readonly worthwhile?: (failure: S3Failure) => boolean;
}

/**
 * Runs an attempt until it succeeds, fails for good, or attempts or time are spent.
 *
 * Pauses are random between nothing and the bound ("full jitter"), so that replicas that were refused
 * together do not come back together. A server's Retry-After is the least pause.
 *
 * @throws S3Failure of the last attempt
 */
export async function withRetries<T>(
  policy: RetryPolicy,
  attempt: () => Promise<T>,
  { signal, worthwhile = isRetryable }: RetryOptions = {},
): Promise<T> {
  const deadline = performance.now() + policy.deadlineMs;
  for (let failures = 0; ; ) {
    try {
      return await attempt();
    } catch (error) {
      const failure = asFailure(error);
      failures += 1;
      const pause = pauseFor(policy, failures, failure.retryAfterMs);
      const spent = failures > policy.retries || performance.now() + pause > deadline;
      if (!worthwhile(failure) || spent || signal?.aborted) throw failure;
      await sleep(pause, undefined, signal ? { signal } : {}).catch(() => undefined);
      if (signal?.aborted) throw failure;
    }
  }
}

function pauseFor(policy: RetryPolicy, failures: number, retryAfterMs: number | null): number {
  const bound = Math.min(MAX_DELAY_MS, policy.delayMs * 2 ** (failures - 1));
  return Math.max(Math.random() * bound, retryAfterMs ?? 0);
}

import type { Backoff } from '../../lib/time/retry.js';
import type { SpeechError } from '../speech-error.js';

export interface RetryPolicy extends Backoff {
  /**
   * Longest that requests to a region wait because the service asks for it (429, `Retry-After`), all pauses
   * without a success in between, added up. Beyond it they fail at once, and nothing is sent until the pause
   * is over.
   */
  readonly maxPauseMs: number;
}

export const RETRY_DEFAULTS: RetryPolicy = {
  retries: 4,
  baseDelayMs: 500,
  maxDelayMs: 60_000,
  maxPauseMs: 300_000,
  random: Math.random,
};

/** Nothing was sent yet when these happen, so that even a submission can be repeated. */
const BEFORE_SENDING = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/**
 * Whether trying again makes sense and is safe. `repeatable` says that the request may be carried out
 * twice; a submission may not, so it is repeated only when the service refused it or never saw it.
 */
export function isRetryableError(error: SpeechError, repeatable: boolean): boolean {
  if (error.kind === 'rate-limited' || error.status === 503) return true;
  if (error.kind === 'network' || error.kind === 'timeout') {
    return repeatable || BEFORE_SENDING.has(String((error.cause as { code?: unknown } | undefined)?.code));
  }
  return repeatable && (error.kind === 'unavailable' || error.kind === 'truncated');
}

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

/** Whether trying again makes sense. Every request may be carried out twice. */
export function isRetryableError({ kind }: SpeechError): boolean {
  return ['rate-limited', 'network', 'timeout', 'unavailable', 'truncated'].includes(kind);
}

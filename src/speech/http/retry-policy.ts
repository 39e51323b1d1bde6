import type { Backoff } from '../../lib/time/retry.js';
import type { SpeechError } from '../speech-error.js';

export interface RetryPolicy extends Backoff {
  /**
   * Longest total pause of requests to a region that the service asks for (429, `Retry-After`), without a success in between.
   * Beyond it requests fail at once, and nothing is sent until the pause is over.
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

/** Whether a retry may help. Every request is idempotent enough to be sent twice. */
export function isRetryableError({ kind }: SpeechError): boolean {
  return ['rate-limited', 'network', 'timeout', 'unavailable', 'truncated'].includes(kind);
}

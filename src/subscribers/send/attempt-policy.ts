import { pauseAfterFailures } from '../../lib/time/retry.js';
import type { Attempt } from '../dead-event.js';
import type { SendResult } from './endpoint.js';

/** Backoff of retries, in milliseconds. */
export interface RetryTimes {
  readonly firstPause: number;
  readonly longestPause: number;
  /** Period since the first attempt; the last one is made when it ends. */
  readonly total: number;
}

export const RETRY_TIMES: RetryTimes = {
  firstPause: 5_000,
  longestPause: 3_600_000,
  total: 24 * 3_600_000,
};

type AttemptOutcome = 'delivered' | 'retry' | 'rejected';

/**
 * Only 410 is final. An ingress without pods answers 404, a rotated secret gives 401, a firewall sends a page: events must survive such
 * faults.
 */
export function attemptOutcomeOf({ delivered, status }: SendResult): AttemptOutcome {
  if (delivered) return 'delivered';
  return status === GONE ? 'rejected' : 'retry';
}

/** Whether the status is of a fault that may end without intervention. */
export function isTemporary(status: number): boolean {
  return [408, 425, 429].includes(status) || status >= 500;
}

export const GONE = 410;
/** Milliseconds of pause after a 410; each further event would be rejected as well. */
export const GONE_PAUSE = 300_000;

interface FailedEvent {
  /** Including the one that just failed. */
  readonly attempts: number;
  /** Milliseconds since the epoch. */
  readonly firstTriedAt: number;
}

/**
 * Time of the next retry, in milliseconds since the epoch; null when the event has expired. Half of each pause is random.
 *
 * @param random in [0, 1)
 */
export function nextTry(
  { attempts, firstTriedAt }: FailedEvent,
  now: number,
  retryAfterMs: number | null,
  random: number,
  { firstPause, longestPause, total }: RetryTimes = RETRY_TIMES,
): number | null {
  const end = firstTriedAt + total;
  if (now >= end) return null;
  const pause = pauseAfterFailures(attempts, firstPause, longestPause, random);
  return Math.min(end, now + Math.max(pause, Math.min(retryAfterMs ?? 0, longestPause)));
}

const FIRST_ATTEMPTS = 4;
const LAST_ATTEMPTS = 4;

/** Adds an attempt and keeps the first four and the last four. */
export function withAttempt(history: readonly Attempt[], attempt: Attempt): Attempt[] {
  const all = [...history, attempt];
  if (all.length <= FIRST_ATTEMPTS + LAST_ATTEMPTS) return all;
  return [...all.slice(0, FIRST_ATTEMPTS), ...all.slice(-LAST_ATTEMPTS)];
}

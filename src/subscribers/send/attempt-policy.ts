import { pauseAfterFailures } from '../../lib/time/retry.js';
import type { Attempt } from '../dead-event.js';
import type { SendResult } from './endpoint.js';

/** How long and how often an event is tried again, in milliseconds. */
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

/** What an answer means for the event. */
type AttemptOutcome = 'delivered' | 'again' | 'rejected';

/**
 * Only 410 is final. An ingress without pods answers 404, a rotated secret 401, a firewall a page: that is when events must not be
 * lost.
 */
export function attemptOutcomeOf({ delivered, status }: SendResult): AttemptOutcome {
  if (delivered) return 'delivered';
  return status === GONE ? 'rejected' : 'again';
}

/** Whether the answer is of a fault that may pass without anybody's doing. */
export function isTemporary(status: number): boolean {
  return [408, 425, 429].includes(status) || status >= 500;
}

export const GONE = 410;
/** Milliseconds for which a subscriber that is gone is left alone; each further event would end as well. */
export const GONE_PAUSE = 300_000;

interface FailedEvent {
  /** Including the one that just failed. */
  readonly attempts: number;
  /** Milliseconds since the epoch. */
  readonly firstTriedAt: number;
}

/**
 * When an event is tried again, in milliseconds since the epoch; null when its time is over. Half of each pause is random.
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

/** The first and the last attempts. */
export function withAttempt(history: readonly Attempt[], attempt: Attempt): Attempt[] {
  const all = [...history, attempt];
  if (all.length <= FIRST_ATTEMPTS + LAST_ATTEMPTS) return all;
  return [...all.slice(0, FIRST_ATTEMPTS), ...all.slice(-LAST_ATTEMPTS)];
}

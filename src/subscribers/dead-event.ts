import type { JobEvent } from './receiver-event.js';

/** One request that sent an event. */
export interface Attempt {
  /** ISO 8601. */
  readonly at: string;
  /** Status of the response; null without one. */
  readonly status: number | null;
  /** Stable code of what failed, such as `timeout` or `ECONNREFUSED`; null when there was a response. */
  readonly error: string | null;
  /** Beginning of the response as one line of text, at most 200 characters; absent without one. */
  readonly answer?: string;
}

/**
 * An undelivered event that is not retried any more: the document at `outbox/<subscriber>/dead/<event id>.json`. It holds the whole
 * event, so that it can be sent again unchanged.
 */
export interface DeadEvent {
  readonly v: 1;
  readonly subscriber: string;
  readonly event: JobEvent;
  /** `rejected`: the answer was final. `expired`: it failed for 24 hours. `failed`: it failed in a replay, and no sender tries it. */
  readonly reason: 'rejected' | 'expired' | 'failed';
  /** ISO 8601. */
  readonly endedAt: string;
  /** ISO 8601. */
  readonly firstTriedAt: string;
  /** Number of attempts, also of those that `history` leaves out. */
  readonly attempts: number;
  /** The first four and the last four attempts, oldest first. */
  readonly history: readonly Attempt[];
}

import type { IndexedEvent } from '../../../index/sent/sent-events.js';
import type { SentEvents } from '../../answers/subscribers.js';

/** An event that was tried, as the list of a subscriber has it. */
export function shownSent({ at, job, duration, ...event }: IndexedEvent): SentEvents['events'][number] {
  const { event: id, type, source, status, error, attempts, outcome } = event;
  return {
    ...{ event: id, jobId: job, type, source, at: new Date(at).toISOString() },
    ...{ status, error, attempts, outcome, durationMs: duration },
  };
}

import type { IndexedEvent } from '../../../index/sent/sent-events.js';
import type { SubscriberStatus } from '../../../subscribers/subscriber-status.js';
import type { SentEvents } from '../../answers/subscribers.js';

/** Result of an event that was tried. The answers to a waiting event are only in the state of its sender. */
export function triedEvent(
  { subscriber, event, type, source, at, status, error, attempts, outcome }: IndexedEvent,
  statuses: readonly SubscriberStatus[],
) {
  const sender = statuses.find(({ name }) => name === subscriber);
  const history = [...(sender?.waiting.find(({ id }) => id === event)?.history ?? [])];
  return { event, type, source, at: new Date(at).toISOString(), status, error, attempts, outcome, history };
}

/** The result as an entry of a subscriber's list. */
export function shownSent(
  event: IndexedEvent,
  statuses: readonly SubscriberStatus[],
): SentEvents['events'][number] {
  return { ...triedEvent(event, statuses), jobId: event.job, durationMs: event.duration };
}

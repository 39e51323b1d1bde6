import type { IndexedEvent } from '../../../index/sent/sent-events.js';
import type { SubscriberStatus } from '../../../subscribers/subscriber-status.js';
import type { SentEvents } from '../../answers/subscribers.js';

/** What became of an event that was tried; the answers to one that waits are in the state of its sender alone. */
export function triedEvent(
  { subscriber, event, type, source, at, status, error, attempts, outcome }: IndexedEvent,
  statuses: readonly SubscriberStatus[],
) {
  const sender = statuses.find(({ name }) => name === subscriber);
  const history = [...(sender?.waiting.find(({ id }) => id === event)?.history ?? [])];
  return { event, type, source, at: new Date(at).toISOString(), status, error, attempts, outcome, history };
}

/** The same, as the list of a subscriber has it. */
export function shownSent(
  event: IndexedEvent,
  statuses: readonly SubscriberStatus[],
): SentEvents['events'][number] {
  return { ...triedEvent(event, statuses), jobId: event.job, durationMs: event.duration };
}

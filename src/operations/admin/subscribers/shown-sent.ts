import type { IndexedEvent } from '../../../index/sent/sent-events.js';
import type { SentEvents } from '../../answers/subscribers.js';

/** What became of an event that was tried. */
export function triedEvent({ event, type, source, at, status, error, attempts, outcome }: IndexedEvent) {
  return { event, type, source, at: new Date(at).toISOString(), status, error, attempts, outcome };
}

/** The same, as the list of a subscriber has it. */
export function shownSent(event: IndexedEvent): SentEvents['events'][number] {
  return { ...triedEvent(event), jobId: event.job, durationMs: event.duration };
}

import type { LedgerLine } from '../../../domain/delivery.js';
import type { EventDelivery } from '../../../domain/event-attempts.js';
import { isInScope, type SourceScope, scopeWithin } from '../../../domain/rights.js';
import type { LedgerView } from '../../../index/ledger-view.js';
import { hourAt } from '../../../ledger/hours.js';
import type { PlacedLine } from '../../../ledger/log/read-lines-at.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { isAnnouncedByRecovery } from '../../../subscribers/announcements.js';
import type { LogProgress } from '../../../subscribers/follow/log-place.js';
import { eventName, isWanted, jobEventOf } from '../../../subscribers/job-event.js';
import type { OutboxReader } from '../../../subscribers/outbox-reader.js';
import type { JobEvent } from '../../../subscribers/receiver-event.js';
import type { SubscriberStatus } from '../../../subscribers/subscriber-status.js';
import type { Job } from '../../answers/jobs.js';
import { triedEvent } from './shown-sent.js';

/**
 * Events of a job for each subscriber, of the sources that the client may see. Rejects with `StoreError` and `IndexError`.
 *
 * @param timeline lines of the job that the client may see
 * @param places places of the lines that are in the index
 */
export type JobEvents = (
  jobId: string,
  timeline: readonly LedgerLine[],
  places: ReadonlyMap<LedgerLine, PlacedLine>,
  scope: SourceScope,
) => Promise<Job['events']>;

export function createJobEvents(
  store: ObjectStore,
  view: Pick<LedgerView, 'sent'>,
  outbox: Pick<OutboxReader, 'statuses'>,
): JobEvents {
  return async (jobId, timeline, places, scope) => {
    const tried = (await view.sent.ofJob(jobId)).filter(({ source }) => isInScope(scope, source));
    const announced = timeline.flatMap((line) => {
      const event = jobEventOf(line, store.location);
      return event === null ? [] : [{ line, event }];
    });
    const isTried = ({ name }: SubscriberStatus, { id }: JobEvent) =>
      tried.some(({ subscriber, event }) => subscriber === name && event === id);
    const statuses = await outbox.statuses(scope);
    const missing = statuses.flatMap((status) => {
      const followed = scopeWithin(null, status.sources);
      const filter = { events: status.events, sources: [...(followed ?? [])] };
      return announced
        .filter(({ event }) => isWanted(event, filter) && !isTried(status, event))
        .map((each) => ({ status, ...each }));
    });
    const others: Job['events'][number][] = [];
    for (const { status, line, event } of missing) {
      const place = places.get(line);
      const outcome = place === undefined ? null : outcomeOf(status, place);
      if (outcome === null || (await isAnnouncedByRecovery(store, line))) continue;
      const nothing = { at: null, status: null, error: null, attempts: 0, history: [] };
      const { source } = event.data;
      others.push({
        subscriber: status.name,
        event: event.id,
        type: eventName(event),
        source,
        ...nothing,
        outcome,
      });
    }
    return [
      ...tried.map((event) => ({ subscriber: event.subscriber, ...triedEvent(event, statuses) })),
      ...others,
    ];
  };
}

/** Outcome of an event without a recorded attempt; null if none is expected. */
function outcomeOf(
  { since, position, stateDamaged }: SubscriberStatus,
  place: PlacedLine,
): EventDelivery['outcome'] | null {
  if (stateDamaged) return 'unknown';
  // No sender has started yet, or the line was written before the subscription began.
  if (since === null || position === null || place.written < Date.parse(since)) return null;
  return isBehind(position, place) ? 'untried' : 'unknown';
}

/** Whether the sender has not read the line yet. */
function isBehind({ before, hours, passed }: LogProgress, { hour, writer, number }: PlacedLine): boolean {
  const folder = hourAt(hour);
  const numbers = hours[folder] ?? passed[folder];
  if (numbers === undefined) return hour >= before;
  return number > (numbers[writer] ?? 0);
}

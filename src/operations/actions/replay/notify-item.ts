import { isErased } from '../../../archive/erasure/erasure.js';
import type { DeliveryPage, LedgerView } from '../../../index/ledger-view.js';
import { writtenRange } from '../../../index/questions/find-deliveries.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { isErasable } from '../../../subscribers/dead-events.js';
import { type EventFilter, jobEventOf } from '../../../subscribers/job-event.js';
import type { Outbox } from '../../../subscribers/outbox.js';
import type { JobEvent } from '../../../subscribers/receiver-event.js';
import { isTemporary } from '../../../subscribers/send/attempt-policy.js';
import type { ReplayItemResult } from './replay-state.js';

/** Dependencies of a replay of events. */
export interface NotifyParts {
  readonly outbox: Pick<Outbox, 'statuses' | 'deadEvents' | 'deadEvent' | 'send'>;
  /** The configured subscribers and the events that they want. */
  readonly subscribers: ReadonlyMap<string, EventFilter>;
  readonly view: Pick<LedgerView, 'lines' | 'requireReach' | 'deliveries' | 'refresh' | 'reachBack'>;
  readonly store: ObjectStore;
}

/**
 * One event for one subscriber, as an item of a replay. A dead event is stored as a whole. Any other is recreated from its ledger line, with
 * the same id; `receivedAt` locates the line.
 */
export interface NotifyItem {
  readonly subscriber: string;
  readonly receivedAt: string | 'dead';
  readonly eventId: string;
  readonly jobId: string;
}

/** Joined by spaces, which neither names nor ids contain. */
export function formatNotifyItem({ subscriber, receivedAt, eventId, jobId }: NotifyItem): string {
  return `${subscriber} ${receivedAt} ${eventId} ${jobId}`;
}

export function parseNotifyItem(item: string): NotifyItem {
  const [subscriber = '', receivedAt = '', eventId = '', jobId = ''] = item.split(' ');
  return { subscriber, receivedAt, eventId, jobId };
}

/** Sends one event again. An event of a job that was erased meanwhile is not sent. */
export async function notifyItem(
  parts: NotifyParts,
  text: string,
  signal: AbortSignal,
): Promise<ReplayItemResult> {
  const item = parseNotifyItem(text);
  const { subscriber, jobId } = item;
  if (!parts.subscribers.has(subscriber)) {
    return failure('rejected', `There is no subscriber ${subscriber} in the configuration.`, jobId);
  }
  const event = await findEvent(parts, item);
  if (event === null || (await isErasedSince(parts, event))) {
    return { outcome: 'gone', failed: false, reason: null, jobId };
  }
  const { delivered, status, error } = await parts.outbox.send(subscriber, event, signal);
  if (delivered) return { outcome: 'sent', failed: false, reason: null, jobId };
  if (status === null) return failure('failed', `${subscriber} could not be reached: ${error}.`, jobId);
  return failure(isTemporary(status) ? 'failed' : 'rejected', `${subscriber} answered ${status}.`, jobId);
}

/** Null only if the ledger no longer has the line. */
async function findEvent(parts: NotifyParts, item: NotifyItem): Promise<JobEvent | null> {
  const { outbox, view } = parts;
  if (item.receivedAt === 'dead')
    return (await outbox.deadEvent(item.subscriber, item.eventId))?.event ?? null;
  const range = writtenRange([Date.parse(item.receivedAt)]);
  const indexed = await findIndexedEvent(parts, item, range);
  if (indexed !== null) return indexed;
  // The event was selected from an index that had its line. The index of this replica may be behind, or still being built.
  await view.refresh();
  await view.reachBack(Date.parse(range.since));
  await view.requireReach({ since: range.since });
  return findIndexedEvent(parts, item, range);
}

async function findIndexedEvent(
  { view, store }: NotifyParts,
  { eventId, jobId }: NotifyItem,
  range: ReturnType<typeof writtenRange>,
): Promise<JobEvent | null> {
  const query = { job: jobId, ...range, limit: 500 };
  let cursor: string | null = null;
  do {
    const page: DeliveryPage = await view.deliveries(cursor === null ? query : { ...query, cursor });
    for (const line of page.deliveries) {
      const event = line.deliveryId === eventId ? jobEventOf(line, store.location) : null;
      if (event !== null) return event;
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
  return null;
}

async function isErasedSince({ store }: NotifyParts, { type, data }: JobEvent): Promise<boolean> {
  return isErasable({ type }) && (await isErased(store, data.jobId));
}

function failure(outcome: 'failed' | 'rejected', reason: string, jobId: string): ReplayItemResult {
  return { outcome, failed: true, reason, jobId };
}

import { isErased } from '../../archive/erasure/erasure.js';
import { deadEventKey, deadEventMarker, deadEventMarkers, deadEventsFolder } from '../../archive/layout.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { ObjectStore, PurgedObject } from '../../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../../store/read-document.js';
import { decodeIdCursor, encodeIdCursor, isUlid } from '../../text/id-cursor.js';
import type { DeadEvent } from './dead-event.js';

export interface DeadEventName {
  readonly subscriber: string;
  readonly eventId: string;
  readonly jobId: string;
}

export interface DeadEventPage {
  /** Newest first, by the time of the delivery. */
  readonly deadEvents: readonly DeadEvent[];
  readonly nextCursor: string | null;
}

/**
 * Keeps an event that ended. Idempotent. An event of an erased job is not kept: the mark of the erasure is looked up last, so
 * that an erasure at the same time either finds the event or is found here.
 */
export async function keepDeadEvent(store: ObjectStore, dead: DeadEvent): Promise<void> {
  const { subscriber, event } = dead;
  const { jobId } = event.data;
  // The marker first: an event without one would survive the erasure of its job.
  await store.replace(deadEventMarker(jobId, subscriber, event.id), Buffer.from(''), DOCUMENT_HEADERS);
  await store.replace(
    deadEventKey(subscriber, event.id),
    Buffer.from(`${JSON.stringify(dead)}\n`),
    DOCUMENT_HEADERS,
  );
  if (isErasable(event) && (await isErased(store, jobId)))
    for await (const _removed of purgeEventsOf(store, jobId));
}

/** The event first: as long as it is there, its marker is. */
export async function removeDeadEvent(
  store: ObjectStore,
  { subscriber, eventId, jobId }: DeadEventName,
): Promise<void> {
  await store.delete(deadEventKey(subscriber, eventId));
  await store.delete(deadEventMarker(jobId, subscriber, eventId));
}

export async function readDeadEvent(
  store: ObjectStore,
  subscriber: string,
  eventId: string,
): Promise<DeadEvent | null> {
  if (!isUlid(eventId)) return null;
  const document = await readDocument(store, deadEventKey(subscriber, eventId), MAX_BYTES);
  return document?.v === 1 ? (document as unknown as DeadEvent) : null;
}

/** A form has at most some hundred parts; an event of them is far below this. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Where a list of dead events begins, and what it holds. */
export interface DeadEventQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** Events of other sources, and of none, are neither listed nor in the cursor. Default null: all. */
  readonly scope?: SourceScope;
}

/** Events that are read at once while those of a scope are searched. */
const READ_AT_ONCE = 100;

export async function listDeadEvents(
  store: ObjectStore,
  subscriber: string,
  { limit, cursor, scope = null }: DeadEventQuery,
): Promise<DeadEventPage> {
  const before = cursor === undefined ? '~' : decodeIdCursor(cursor);
  const ids: string[] = [];
  for await (const id of deadEventIds(store, subscriber)) if (id < before) ids.push(id);
  ids.reverse();
  const found: DeadEvent[] = [];
  const step = scope === null ? limit + 1 : READ_AT_ONCE;
  for (let start = 0; start < ids.length && found.length <= limit; start += step) {
    const some = ids.slice(start, start + step);
    const events = await Promise.all(some.map((id) => readDeadEvent(store, subscriber, id)));
    for (const dead of events) if (dead && isInScope(scope, dead.event.data.source)) found.push(dead);
  }
  const deadEvents = found.slice(0, limit);
  const last = deadEvents.at(-1);
  return {
    deadEvents,
    nextCursor: found.length > limit && last !== undefined ? encodeIdCursor(last.event.id) : null,
  };
}

/** Oldest first. */
export async function* deadEventIds(
  store: Pick<ObjectStore, 'list'>,
  subscriber: string,
): AsyncGenerator<string> {
  const folder = deadEventsFolder(subscriber);
  for await (const { key } of store.list(folder)) {
    const id = key.slice(folder.length, -'.json'.length);
    if (isUlid(id)) yield id;
  }
}

/**
 * Removes the dead events of a job, of all subscribers and with their old versions, for its erasure. The announcement of an
 * erasure itself stays. Yields what was found, as `purge` of the store does. Throws `StoreError`.
 */
export async function* purgeEventsOf(store: ObjectStore, jobId: string): AsyncGenerator<PurgedObject> {
  const folder = deadEventMarkers(jobId);
  const markers: string[] = [];
  // Also of events that were sent after all: their old versions may remain.
  for await (const key of store.traces(folder)) markers.push(key);
  for (const marker of new Set(markers)) {
    const [subscriber, eventId] = marker.slice(folder.length).split('/');
    if (subscriber === undefined || eventId === undefined) continue;
    const dead = await readDeadEvent(store, subscriber, eventId);
    if (dead !== null && !isErasable(dead.event)) continue;
    let isKept = false;
    for await (const purged of store.purge(deadEventKey(subscriber, eventId))) {
      isKept ||= purged.kept !== null;
      yield purged;
    }
    // By its marker a repeated erasure finds what this one left.
    if (!isKept) for await (const _ of store.purge(marker));
  }
}

/** Whether the event tells more of a job than that it was erased. */
export function isErasable({ type }: Pick<DeadEvent['event'], 'type'>): boolean {
  return type !== 'transcript-receiver.job.erased.v1';
}

import { isErased } from '../archive/erasure/erasure.js';
import { deadEventKey, deadEventMarker, deadEventMarkers, deadEventsFolder } from '../archive/layout.js';
import { isInScope, type SourceScope } from '../domain/rights.js';
import { decodeIdCursor, encodeIdCursor, isUlid } from '../lib/text/id-cursor.js';
import { inGroups } from '../store/in-groups.js';
import type { ListRange, ObjectStore, PurgedObject } from '../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../store/read-document.js';
import type { DeadEvent } from './dead-event.js';

interface DeadEventName {
  readonly subscriber: string;
  readonly eventId: string;
  readonly jobId: string;
}

export interface DeadEventPage {
  /** Oldest first, by the time of the delivery. */
  readonly deadEvents: readonly DeadEvent[];
  readonly nextCursor: string | null;
}

/**
 * Stores a dead event. Idempotent. An event of an erased job is removed again: the mark of erasure is read last, so that a concurrent
 * erasure either finds the event or is found here.
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

/** Deletes the event first, so that an event never exists without its marker. */
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

/** Start and filter of a list of dead events. */
export interface DeadEventQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** Only events of these sources are listed, and named by the cursor. Default null: all. */
  readonly scope?: SourceScope;
  /** Ends the search with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Events that a page reads to find those of some sources; a page that needs more ends early with a cursor. */
const MAX_READS = 1000;
const READS_AT_ONCE = 16;

export async function listDeadEvents(
  store: ObjectStore,
  subscriber: string,
  { limit, cursor, scope = null, signal }: DeadEventQuery,
): Promise<DeadEventPage> {
  const deadEvents: DeadEvent[] = [];
  const until = (id: string) => ({ deadEvents, nextCursor: encodeIdCursor('dead', id) });
  const most = scope === null ? Number.POSITIVE_INFINITY : MAX_READS;
  let reads = 0;
  let last = '';
  const startAfter = cursor && deadEventKey(subscriber, decodeIdCursor('dead', cursor));
  const ids = deadEventIds(store, subscriber, { signal, ...(startAfter ? { startAfter } : undefined) });
  for await (const group of inGroups(ids, Math.min(limit, READS_AT_ONCE))) {
    if (deadEvents.length === limit || reads >= most) return until(last);
    const events = await Promise.all(group.map((id) => readDeadEvent(store, subscriber, id)));
    signal?.throwIfAborted();
    for (const [index, id] of group.entries()) {
      if (deadEvents.length === limit) return until(last);
      const dead = events[index];
      if (dead && isInScope(scope, dead.event.data.source)) deadEvents.push(dead);
      last = id;
    }
    reads += group.length;
  }
  return { deadEvents, nextCursor: null };
}

/** Lists the ids lazily: no more keys are read than the caller takes. */
export async function* deadEventIds(
  store: Pick<ObjectStore, 'keys'>,
  subscriber: string,
  range: ListRange = {},
): AsyncGenerator<string> {
  const folder = deadEventsFolder(subscriber);
  for await (const key of store.keys(folder, range)) yield* eventIdOf(key, folder);
}

function eventIdOf(key: string, folder: string): string[] {
  const id = key.slice(folder.length, -'.json'.length);
  return isUlid(id) ? [id] : [];
}

/**
 * Removes the dead events of a job, of all subscribers and with their old versions, for its erasure. An event that announces an erasure
 * stays. Yields the objects found, like `purge` of the store. Throws `StoreError`.
 */
export async function* purgeEventsOf(store: ObjectStore, jobId: string): AsyncGenerator<PurgedObject> {
  const folder = deadEventMarkers(jobId);
  // Markers of events that were sent after all are included: their old versions may remain.
  const markers = await Array.fromAsync(store.traces(folder));
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
    // Without the marker, a repeated erasure would not find versions that this one could not remove.
    if (!isKept) for await (const _ of store.purge(marker));
  }
}

/** Whether an erasure of the job removes the event: all but the announcement of an erasure. */
export function isErasable({ type }: Pick<DeadEvent['event'], 'type'>): boolean {
  return type !== 'transcript-receiver.job.erased.v1';
}

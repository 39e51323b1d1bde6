import pLimit from 'p-limit';
import { decodeTime } from 'ulid';
import { isUlid } from '../../lib/text/id-cursor.js';
import type { ObjectStore } from '../../store/object-store.js';
import { DOCUMENT_HEADERS } from '../../store/read-document.js';
import { quarantineFolder, quarantineMarker, quarantineMarkers } from '../layout.js';

/** The quarantined objects of one delivery of a job. */
export interface QuarantinedBody {
  /** Name of its folder, the delivery's id. */
  readonly id: string;
  readonly keys: readonly string[];
  readonly bytes: number;
  /** ISO 8601, from the delivery's id; null for a folder whose name is no delivery id. */
  readonly receivedAt: string | null;
}

const LISTS_AT_ONCE = 16;

/** Adds a delivery to the index of its job. */
export async function markQuarantined(store: ObjectStore, jobId: string, deliveryId: string): Promise<void> {
  await store.create(quarantineMarker(jobId, deliveryId), Buffer.from('{}'), DOCUMENT_HEADERS);
}

/** The bodies of a job, oldest first. Lists only the folders of this job. */
export async function quarantinedBodies(store: ObjectStore, jobId: string): Promise<QuarantinedBody[]> {
  const ids = await quarantinedIds(store, jobId);
  const limit = pLimit(LISTS_AT_ONCE);
  const bodies = await Promise.all(ids.map((id) => limit(() => bodyOf(store, id))));
  return bodies.filter(({ keys }) => keys.length > 0);
}

/** Ids of the deliveries of a job whose body is in the index, oldest first. */
function quarantinedIds(store: ObjectStore, jobId: string): Promise<string[]> {
  return Array.fromAsync(store.list(quarantineMarkers(jobId)), ({ key }) => idOf(key, jobId));
}

/** Ids of the deliveries of a job whose body is, was, or is about to be quarantined. */
export async function tracedBodies(store: ObjectStore, jobId: string): Promise<string[]> {
  const ids = new Set<string>();
  for await (const key of store.traces(quarantineMarkers(jobId))) ids.add(idOf(key, jobId));
  return [...ids];
}

function idOf(key: string, jobId: string): string {
  return key.slice(quarantineMarkers(jobId).length);
}

/**
 * Removes the quarantined objects of one delivery of an erased job. The index entry stays while something cannot be removed, so that a
 * repeated erasure finds it.
 */
export async function removeErasedBody(store: ObjectStore, id: string, jobId: string): Promise<void> {
  let isKept = false;
  for await (const { kept } of store.purge(quarantineFolder(id))) isKept ||= kept !== null;
  if (!isKept) for await (const _marker of store.purge(quarantineMarker(jobId, id)));
}

async function bodyOf(store: ObjectStore, id: string): Promise<QuarantinedBody> {
  const folder = quarantineFolder(id);
  const keys: string[] = [];
  let bytes = 0;
  for await (const { key, size } of store.list(folder)) {
    keys.push(key);
    if (key === `${folder}body`) bytes = size;
  }
  return { id, keys, bytes, receivedAt: isUlid(id) ? new Date(decodeTime(id)).toISOString() : null };
}

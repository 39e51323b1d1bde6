import pLimit from 'p-limit';
import { decodeTime } from 'ulid';
import type { ObjectStore } from '../../store/object-store.js';
import { isUlid } from '../../text/id-cursor.js';
import { quarantineFolder, quarantineMarker, quarantineMarkers } from '../layout.js';
import { indexOlderBodies } from './index-older-bodies.js';

/** What the quarantine holds of one delivery of a job. */
export interface QuarantinedBody {
  /** Name of its folder, the delivery's id. */
  readonly id: string;
  /** Empty when only its entry in the index is left. */
  readonly keys: readonly string[];
  readonly bytes: number;
  /** ISO 8601, from the delivery's id; null for a folder that is not named by one. */
  readonly receivedAt: string | null;
}

const LISTS_AT_ONCE = 16;

/** Adds a delivery to the index of its job. */
export async function markQuarantined(store: ObjectStore, jobId: string, deliveryId: string): Promise<void> {
  const headers = { contentType: 'application/json', metadata: {} };
  await store.create(quarantineMarker(jobId, deliveryId), Buffer.from('{}'), headers);
}

/** The bodies of a job, oldest first. Asks the store for those of this job only. */
export async function quarantinedBodies(store: ObjectStore, jobId: string): Promise<QuarantinedBody[]> {
  return (await indexedBodies(store, jobId)).filter(({ keys }) => keys.length > 0);
}

/** The same with entries of the index that have no body any more, or not yet. */
export async function indexedBodies(store: ObjectStore, jobId: string): Promise<QuarantinedBody[]> {
  await indexOlderBodies(store, Date.now());
  const markers: string[] = [];
  for await (const { key } of store.list(quarantineMarkers(jobId))) markers.push(key);
  const limit = pLimit(LISTS_AT_ONCE);
  const ids = markers.map((key) => key.slice(quarantineMarkers(jobId).length));
  return Promise.all(ids.map((id) => limit(() => bodyOf(store, id))));
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

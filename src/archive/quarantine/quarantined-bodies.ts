import pLimit from 'p-limit';
import { decodeTime } from 'ulid';
import type { ObjectStore } from '../../store/object-store.js';
import { isUlid } from '../../text/id-cursor.js';
import { QUARANTINE_FOLDER } from '../layout.js';

/** A quarantined body of one job, with all objects beside it. */
export interface QuarantinedBody {
  readonly keys: readonly string[];
  readonly bytes: number;
  /** ISO 8601, from the delivery's id; null for a folder that is not named by one. */
  readonly receivedAt: string | null;
}

const HEADS_AT_ONCE = 16;

/** Lists the bodies of a job, oldest first. Reads the owner of every folder: the ledger may be shorter than the quarantine. */
export async function quarantinedBodies(store: ObjectStore, jobId: string): Promise<QuarantinedBody[]> {
  const folders: string[] = [];
  for await (const folder of store.folders(QUARANTINE_FOLDER)) folders.push(folder);
  const limit = pLimit(HEADS_AT_ONCE);
  const found = await Promise.all(folders.map((folder) => limit(() => bodyIn(store, folder, jobId))));
  return found.filter((body) => body !== null);
}

async function bodyIn(store: ObjectStore, folder: string, jobId: string): Promise<QuarantinedBody | null> {
  const body = await store.head(`${folder}body`);
  const owner =
    body ?? (await store.head(`${folder}request.json`)) ?? (await store.head(`${folder}released.json`));
  if (owner?.metadata['job-id'] !== jobId) return null;
  const keys: string[] = [];
  for await (const { key } of store.list(folder)) keys.push(key);
  const id = folder.slice(QUARANTINE_FOLDER.length, -1);
  const receivedAt = isUlid(id) ? new Date(decodeTime(id)).toISOString() : null;
  return { keys, bytes: body?.size ?? 0, receivedAt };
}

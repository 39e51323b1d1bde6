import pLimit from 'p-limit';
import type { ObjectStore } from '../../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../../store/read-document.js';
import { QUARANTINE_FOLDER, QUARANTINE_INDEX, quarantineMarker } from '../layout.js';

const BEGUN = '.quarantine-indexed/begun.json';
const COMPLETE = '.quarantine-indexed/complete.json';

/** Replicas of a version without the index may write for so long after the first look of one with it. */
const ROLLOUT = 24 * 3_600_000;

const HEADS_AT_ONCE = 16;

/**
 * Adds the bodies that a version without the index has written to it. Lists the whole quarantine at every call, until one
 * that comes a day after the first; after that it costs one request.
 *
 * @param now milliseconds since the epoch
 */
export async function indexOlderBodies(store: ObjectStore, now: number): Promise<void> {
  if ((await store.head(COMPLETE)) !== null) return;
  const begun = await readDocument(store, BEGUN);
  await indexAll(store);
  if (begun === null)
    await store.create(BEGUN, Buffer.from(JSON.stringify({ v: 1, at: now })), DOCUMENT_HEADERS);
  else if (now >= Number(begun.at) + ROLLOUT)
    await store.create(COMPLETE, Buffer.from('{}'), DOCUMENT_HEADERS);
}

async function indexAll(store: ObjectStore): Promise<void> {
  const indexed = new Set<string>();
  for await (const { key } of store.list(QUARANTINE_INDEX)) indexed.add(key.slice(key.lastIndexOf('/') + 1));
  const missing: string[] = [];
  for await (const folder of store.folders(QUARANTINE_FOLDER)) {
    const id = folder.slice(QUARANTINE_FOLDER.length, -1);
    if (!indexed.has(id)) missing.push(id);
  }
  const limit = pLimit(HEADS_AT_ONCE);
  await Promise.all(missing.map((id) => limit(() => indexBody(store, id))));
}

async function indexBody(store: ObjectStore, id: string): Promise<void> {
  const folder = `${QUARANTINE_FOLDER}${id}/`;
  const owner =
    (await store.head(`${folder}body`)) ??
    (await store.head(`${folder}request.json`)) ??
    (await store.head(`${folder}released.json`));
  const jobId = owner?.metadata['job-id'];
  if (jobId !== undefined)
    await store.create(quarantineMarker(jobId, id), Buffer.from('{}'), DOCUMENT_HEADERS);
}

import type { ObjectStore } from '../../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../../store/read-document.js';
import { QUARANTINE_FOLDER, QUARANTINE_INDEX, quarantineMarker } from '../layout.js';
import { readAhead } from '../ledger/read-ahead.js';

const BEGUN = '.quarantine-indexed/begun.json';
const COMPLETE = '.quarantine-indexed/complete.json';

/** Replicas of a version without the index may write for so long after the first look of one with it. */
const ROLLOUT = 24 * 3_600_000;

const HEADS_AT_ONCE = 16;

/** What this process knows of a store's index. */
interface Indexing {
  isComplete: boolean;
  /** When the last run that succeeded began, in milliseconds since the epoch. */
  indexedAt: number;
  running: Promise<void> | null;
  /** The run after that one: a call needs one that begins after it. */
  next: Promise<void> | null;
  /** Bodies that name no job. */
  readonly unowned: Set<string>;
}

const known = new WeakMap<ObjectStore, Indexing>();

/**
 * Adds the bodies that a version without the index has written to it. Until a day after the first run, a run lists the whole
 * quarantine; calls share one. After that it costs nothing.
 *
 * @param now milliseconds since the epoch
 * @param age a run that began at most so many milliseconds ago will do
 */
export async function indexOlderBodies(store: ObjectStore, now: number, age = 0): Promise<void> {
  const indexing = indexingOf(store);
  if (indexing.isComplete || now - indexing.indexedAt < age) return;
  indexing.next ??= runAfter(indexing, () => index(store, indexing, now));
  await indexing.next;
}

function indexingOf(store: ObjectStore): Indexing {
  const indexing = known.get(store) ?? {
    isComplete: false,
    indexedAt: Number.NEGATIVE_INFINITY,
    running: null,
    next: null,
    unowned: new Set(),
  };
  known.set(store, indexing);
  return indexing;
}

async function runAfter(indexing: Indexing, run: () => Promise<void>): Promise<void> {
  await indexing.running?.catch(() => undefined);
  indexing.next = null;
  indexing.running = run();
  await indexing.running;
}

async function index(store: ObjectStore, indexing: Indexing, now: number): Promise<void> {
  if ((await store.head(COMPLETE)) === null) {
    const begun = await readDocument(store, BEGUN);
    for await (const _ of readAhead(unindexed(store, indexing), HEADS_AT_ONCE, (id) =>
      indexBody(store, id, indexing),
    ));
    indexing.indexedAt = now;
    if (begun === null)
      await store.create(BEGUN, Buffer.from(JSON.stringify({ v: 1, at: now })), DOCUMENT_HEADERS);
    if (begun === null || now < Number(begun.at) + ROLLOUT) return;
    await store.create(COMPLETE, Buffer.from('{}'), DOCUMENT_HEADERS);
  }
  indexing.isComplete = true;
  indexing.unowned.clear();
}

async function* unindexed(store: ObjectStore, { unowned }: Indexing): AsyncGenerator<string> {
  const indexed = new Set<string>();
  for await (const { key } of store.list(QUARANTINE_INDEX)) indexed.add(key.slice(key.lastIndexOf('/') + 1));
  for await (const folder of store.folders(QUARANTINE_FOLDER)) {
    const id = folder.slice(QUARANTINE_FOLDER.length, -1);
    if (!indexed.has(id) && !unowned.has(id)) yield id;
  }
}

async function indexBody(store: ObjectStore, id: string, { unowned }: Indexing): Promise<void> {
  const folder = `${QUARANTINE_FOLDER}${id}/`;
  const owner =
    (await store.head(`${folder}body`)) ??
    (await store.head(`${folder}request.json`)) ??
    (await store.head(`${folder}released.json`));
  const jobId = owner?.metadata['job-id'];
  if (jobId !== undefined)
    await store.create(quarantineMarker(jobId, id), Buffer.from('{}'), DOCUMENT_HEADERS);
  else if (owner !== null) unowned.add(id);
}

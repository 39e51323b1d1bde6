import type { ObjectStore } from '../../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../../store/read-document.js';
import { COMPACTION_STATE } from '../ledger-keys.js';

/**
 * Folder of the last hour that is compacted and has nothing left before it; null where it is not known: then a run looks at every
 * hour. Its day may not be summed up. By it, verify misses an hour that no rollup of a later one names.
 */
export async function readLastCompacted(store: ObjectStore): Promise<string | null> {
  const document = await readDocument(store, COMPACTION_STATE);
  return document?.v === 1 && typeof document.last === 'string' ? document.last : null;
}

/** Processes that run at once write what each of them saw: the last one counts, and none is ahead of the ledger. */
export async function saveLastCompacted(store: ObjectStore, last: string): Promise<void> {
  await store.replace(COMPACTION_STATE, Buffer.from(JSON.stringify({ v: 1, last })), DOCUMENT_HEADERS);
}

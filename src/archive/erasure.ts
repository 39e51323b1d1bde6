import type { StoredItem } from '../domain/item.js';
import type { ObjectStore } from '../store/object-store.js';
import { erasureKey } from './layout.js';

/** Whether a job was erased here on purpose. Throws `StoreError`. */
export async function isErased(store: ObjectStore, jobId: string): Promise<boolean> {
  return (await store.head(erasureKey(jobId))) !== null;
}

/**
 * Runs a commit unless the job was erased; null when it was, and then nothing of the commit remains.
 *
 * An erasure writes its mark first and then deletes what it finds. A commit that ends before the mark is written is
 * found by it; any other sees the mark afterwards and takes back what it stored. That holds across replicas, in
 * every order of their calls (test/unit/archive/erasure.test.ts plays them all). The question before the commit only keeps erased
 * content from becoming visible for a moment.
 *
 * Rejects as `commit` does, or with `StoreError`.
 */
export async function commitUnlessErased(
  store: ObjectStore,
  jobId: string,
  commit: () => Promise<StoredItem[]>,
): Promise<StoredItem[] | null> {
  if (await isErased(store, jobId)) return null;
  const items = await commit();
  if (!(await isErased(store, jobId))) return items;
  for (const { key } of items) await store.delete(key);
  return null;
}

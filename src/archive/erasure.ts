import type { StoredItem } from '../domain/item.js';
import type { ObjectStore } from '../store/object-store.js';
import { erasureKey } from './layout.js';

/** Whether an operator erased the job. Throws `StoreError`. */
export async function isErased(store: ObjectStore, jobId: string): Promise<boolean> {
  return (await store.head(erasureKey(jobId))) !== null;
}

/**
 * Runs a commit unless the job was erased. Null when it was; then nothing of the commit remains.
 *
 * An erasure writes its mark first and then deletes the job's objects. It deletes the items of a commit that ends before
 * the mark is written; every other commit sees the mark afterwards and deletes its own items. That holds across replicas,
 * in every order of their calls (test/unit/archive/erasure.test.ts runs all of them). The check before the commit only
 * keeps erased content from being visible for a moment.
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

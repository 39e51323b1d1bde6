import type { ObjectStore } from '../store/object-store.js';
import type { ExpectedItem } from './expectation.js';

/**
 * The keys of those items that the store holds. The store is asked every time: an artefact that was seen earlier may
 * have been erased since, and another replica may have stored one.
 *
 * @param again leaves out items that can be fetched and compared once more
 */
export async function presentKeys(
  store: ObjectStore,
  items: readonly ExpectedItem[],
  { again }: { readonly again: boolean },
): Promise<ReadonlySet<string>> {
  const present = new Set<string>();
  for (const { key, kind } of items) {
    // The record that replaces a jobinfo changes with time: comparing it would make false conflicts.
    if (again && kind !== 'jobinfo') continue;
    if ((await store.head(key)) !== null) present.add(key);
  }
  return present;
}

import { type IndexOfStore, openIndexOfStore } from '../../../src/index/fill/open-index-of-store.js';
import { openStore } from '../../../src/store/open-store.js';

const YEAR = 365 * 86_400_000;

/** An index of a store in a worker, at a path or in memory. */
export async function openIndexAt(url: string, path: string | null): Promise<IndexOfStore> {
  const store = await openStore({ url, fsync: false });
  const bounds = { clock: Date.now, reach: YEAR, retention: YEAR, maxBytes: 2 ** 30 };
  return openIndexOfStore({ store, filesFor: () => ({ path }), ...bounds });
}

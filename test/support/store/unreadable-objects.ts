import { retryingReads } from '../../../src/ledger/retrying-reads.js';
import { type ObjectStore, StoreError } from '../../../src/store/object-store.js';

/** A store that answers, but for reads of some objects: as a file that its owner may not read. */
export function withUnreadable<S extends ObjectStore>(store: S, isUnreadable: (key: string) => boolean): S {
  return {
    ...store,
    async read(key, ...args) {
      if (isUnreadable(key)) throw new StoreError('read', `${key}: access denied`, { condition: 'denied' });
      return store.read(key, ...args);
    },
  };
}

/** The same for whoever follows the ledger, without pauses between attempts. */
export function retriedWithUnreadable(
  store: ObjectStore,
  isUnreadable: (key: string) => boolean,
): ObjectStore {
  return retryingReads(withUnreadable(store, isUnreadable), [0]);
}

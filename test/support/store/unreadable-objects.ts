import { type ObjectStore, StoreError } from '../../../src/store/object-store.js';

/** A store that denies reads of some objects, as a file system does without permission. */
export function withUnreadable<S extends ObjectStore>(store: S, isUnreadable: (key: string) => boolean): S {
  return {
    ...store,
    async read(key, ...args) {
      if (isUnreadable(key)) throw new StoreError('read', `${key}: access denied`, { condition: 'denied' });
      return store.read(key, ...args);
    },
  };
}

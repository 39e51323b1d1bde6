import { type ObjectStore, StoreError } from '../../../src/store/object-store.js';

/** A store that denies listings of some folders, as if they belonged to another user. */
export function withUnlistable<S extends ObjectStore>(store: S, folders: () => readonly string[]): S {
  async function* listed<Item>(prefix: string, items: AsyncIterable<Item>): AsyncGenerator<Item> {
    if (folders().some((folder) => prefix.startsWith(folder)))
      throw new StoreError('list', `${prefix}: access denied`, { condition: 'denied' });
    yield* items;
  }
  return {
    ...store,
    list: (prefix, range) => listed(prefix, store.list(prefix, range)),
    keys: (prefix, range) => listed(prefix, store.keys(prefix, range)),
    folders: (prefix) => listed(prefix, store.folders(prefix)),
  };
}

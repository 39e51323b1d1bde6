import type { ObjectStore } from '../../../src/store/object-store.js';

/** A store whose listings leave out what `isLeftOut` says, without an error. */
export function partialListings<S extends ObjectStore>(store: S, isLeftOut: (key: string) => boolean): S {
  const left = async function* <Item>(items: AsyncIterable<Item>, keyOf: (item: Item) => string) {
    for await (const item of items) if (!isLeftOut(keyOf(item))) yield item;
  };
  return {
    ...store,
    list: (prefix, range) => left(store.list(prefix, range), ({ key }) => key),
    keys: (prefix, range) => left(store.keys(prefix, range), (key) => key),
    folders: (prefix) => left(store.folders(prefix), (folder) => folder),
    traces: (folder) => left(store.traces(folder), (key) => key),
  };
}

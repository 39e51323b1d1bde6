import { withDeadline } from '../lib/time/deadline.js';
import { BUCKET_MARKER, compareKeys, isListed } from './object-key.js';
import { type ListRange, type ObjectStore, PartialListingError } from './object-store.js';

/**
 * Throws `PartialListingError` for a bucket whose listing lacks the marker that every bucket has: everything would look as if it had never
 * existed. For processes that wrote nothing. Does not throw for a store that refuses or does not answer, which the process notices itself.
 */
export async function assertLists(store: Pick<ObjectStore, 'location' | 'keys' | 'identity'>): Promise<void> {
  if (!store.location.startsWith('s3:')) return;
  const looking = withDeadline(lacksMarker(store), ASSERT_TIMEOUT, 'the bucket was not listed in time');
  if (await looking.catch(() => false)) throw new PartialListingError(BUCKET_MARKER, BUCKET_MARKER);
}

/** Milliseconds; long, so that a busy store is checked as well. */
const ASSERT_TIMEOUT = 10_000;

async function lacksMarker(store: Pick<ObjectStore, 'keys' | 'identity'>): Promise<boolean> {
  for await (const key of store.keys(BUCKET_MARKER)) if (key === BUCKET_MARKER) return false;
  return (await store.identity()) !== null;
}

/**
 * A store whose listings throw `PartialListingError` when they lack an existing object: they are empty, leave keys out or stop early. The
 * probe at start has checked that, but a server can change.
 *
 * @param known keys of objects that this process wrote
 */
export function wholeListings(store: ObjectStore, known: () => readonly string[]): ObjectStore {
  function expectedIn(prefix: string, { startAfter = '', direct = false }: ListRange = {}): Set<string> {
    const isExpected = (key: string) =>
      key.startsWith(prefix) &&
      isListed(key, prefix) &&
      compareKeys(key, startAfter) > 0 &&
      !(direct && key.includes('/', prefix.length));
    return new Set(known().filter(isExpected));
  }

  /** Throws when a lacking object exists. One that was deleted meanwhile proves nothing. */
  async function assertWhole(prefix: string, lacking: ReadonlySet<string>): Promise<void> {
    for (const key of lacking)
      if ((await store.head(key)) !== null) throw new PartialListingError(prefix, key);
  }

  async function* listed<Item>(
    prefix: string,
    items: AsyncIterable<Item>,
    keyOf: (item: Item) => string,
    range: ListRange = {},
  ): AsyncGenerator<Item> {
    const { limit = Number.POSITIVE_INFINITY } = range;
    const expected = expectedIn(prefix, range);
    let count = 0;
    for await (const item of items) {
      expected.delete(keyOf(item));
      count += 1;
      yield item;
    }
    if (count < limit) await assertWhole(prefix, expected);
  }

  async function* listedFolders(prefix: string): AsyncGenerator<string> {
    const expected = expectedIn(prefix);
    const found = new Set<string>();
    for await (const folder of store.folders(prefix)) {
      found.add(folder);
      yield folder;
    }
    for (const key of expected) {
      const end = key.indexOf('/', prefix.length);
      if (end < 0 || found.has(key.slice(0, end + 1))) expected.delete(key);
    }
    await assertWhole(prefix, expected);
  }

  return {
    ...store,
    list: (prefix, range) => listed(prefix, store.list(prefix, range), ({ key }) => key, range),
    keys: (prefix, range) => listed(prefix, store.keys(prefix, range), (key) => key, range),
    folders: listedFolders,
  };
}

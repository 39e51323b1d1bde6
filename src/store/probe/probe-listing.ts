import { compareKeys } from '../object-key.js';
import { UnorderedListingError } from '../object-store.js';
import { collected, type ProbePlace } from './probe-place.js';

/** In key order, with the characters that keys of the archive and the ledger have. No file store has both `a` and `a/1`. */
const NAMES = [
  'A',
  'B-1',
  'a-1',
  'a.1',
  'a/1',
  'a0',
  'a1/2',
  'a=1~00000001',
  'b',
  'dt=1/hour=1',
  'dt=1/hour=2',
  'z',
];
const FOLDERS = ['a/', 'a1/', 'dt=1/'];
/** Makes three pages. */
const PAGE_SIZE = 5;
const AFTER = 6;
const LIMIT = 3;

/**
 * Lists a dozen new objects: over pages, after a key, and by folder. Resolves to a violation that the ledger's reader, merges, cursors and
 * erasures cannot tolerate, or to null. Throws `StoreError` for a failure that may be temporary.
 */
export function probeListing(place: ProbePlace): Promise<string | null> {
  return listAndCompare(place).catch((error: unknown) => {
    if (error instanceof UnorderedListingError) return error.fault;
    throw error;
  });
}

async function listAndCompare({ store, folder, newKey, headers }: ProbePlace): Promise<string | null> {
  const place = `${folder}listing/`;
  const keys = NAMES.map((name) => newKey(`listing/${name}`));
  // Created in reverse order, to detect a listing by age.
  await Promise.all(keys.toReversed().map((key) => store.create(key, Buffer.from('probe'), headers)));
  const listed = await collected(store.list(place, { pageSize: PAGE_SIZE }));
  const fault = faultIn(
    listed.map(({ key }) => key),
    keys,
  );
  if (fault !== null) return fault;
  const isDescribed = listed.every(({ size, modifiedAt }) => size === 5 && modifiedAt.getTime() > 0);
  if (!isDescribed) return 'its listings have no size or no time of the objects';
  const later = await collected(store.list(place, { startAfter: keys[AFTER] ?? '', limit: LIMIT }));
  if (later.map(({ key }) => key).join() !== keys.slice(AFTER + 1, AFTER + 1 + LIMIT).join())
    return 'its listings do not begin behind a key (StartAfter)';
  const folders = await collected(store.folders(place));
  return folders.join() === FOLDERS.map((name) => place + name).join()
    ? null
    : 'its listings do not name folders (Delimiter)';
}

function faultIn(listed: readonly string[], keys: readonly string[]): string | null {
  const found = new Set(listed);
  const missing = keys.filter((key) => !found.has(key)).length;
  if (missing > 0) return `its listings miss ${missing} of ${keys.length} new objects`;
  const wrong = listed.findIndex((key, n) => n > 0 && compareKeys(listed[n - 1] ?? '', key) >= 0);
  if (wrong > 0) return 'its listings are not in the order of keys';
  return listed.length === keys.length ? null : 'its listings show objects that do not exist';
}

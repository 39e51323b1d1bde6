import type { Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { compareKeys, isListed, sortKeys } from '../object-key.js';
import type { ListedObject, ListRange } from '../object-store.js';
import { errnoOf, fileStoreError, ifAbsent, isAbsent } from './file-errors.js';
import { assertListable, guardIfThere } from './file-folders.js';
import { type FileRoot, MADE_BY_FILE_SYSTEM } from './file-root.js';

/** Names of a folder that are held in memory. A larger folder is read again for each batch. */
const MAX_NAMES = 10_000;
/** Entries per system call: they are processed in one turn of the event loop. */
const READ_AT_ONCE = 256;

interface ListSearch {
  readonly prefix: string;
  readonly startAfter: string;
  readonly names: number;
  readonly anyOrder?: boolean | undefined;
  readonly direct?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onUnreadable?: ListRange['onUnreadable'];
}

/**
 * Lists the objects below a prefix in S3's order. Skips folders that are entirely before `startAfter` or outside the prefix.
 * Symbolic links count neither as objects nor as folders.
 */
export function listFiles(
  root: FileRoot,
  prefix: string,
  range: ListRange = {},
): AsyncGenerator<ListedObject> {
  return firstOf(described(root, walkBelow(root, prefix, range), range.onUnreadable), range.limit);
}

/** Lists the keys of the same objects. */
export function listFileKeys(root: FileRoot, prefix: string, range: ListRange = {}): AsyncGenerator<string> {
  return firstOf(walkBelow(root, prefix, range), range.limit);
}

/** Adds size and time; objects that no longer exist are left out. */
async function* described(
  root: FileRoot,
  keys: AsyncIterable<string>,
  onUnreadable: ListRange['onUnreadable'],
): AsyncGenerator<ListedObject> {
  for await (const key of keys) {
    const object = await describe(root.path, key).catch((error: unknown) => {
      if (onUnreadable === undefined) throw error;
      onUnreadable(key, fileStoreError('list', key, error));
      return null;
    });
    if (object !== null) yield object;
  }
}

async function* firstOf<Item>(
  items: AsyncIterable<Item>,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<Item> {
  let left = limit;
  for await (const item of items) {
    yield item;
    left -= 1;
    if (left === 0) return;
  }
}

async function* walkBelow(
  root: FileRoot,
  prefix: string,
  { startAfter = '', limit = Number.POSITIVE_INFINITY, ...range }: ListRange,
): AsyncGenerator<string> {
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  await assertReadable(root, folder);
  const names = Math.min(limit, MAX_NAMES);
  yield* walk(root.path, folder, { ...range, prefix, startAfter, names });
  // A store that was unmounted during the listing looks empty.
  await root.check();
}

/**
 * Lists the immediate sub-folders of `prefix` (empty or ending in `/`) that hold an object, in order. Throws `StoreGoneError` for a folder
 * of the layout that was moved away: a ledger must not look empty.
 */
export async function* listFileFolders(root: FileRoot, prefix: string): AsyncGenerator<string> {
  await assertReadable(root, prefix);
  await assertListable(root.path, join(root.path, dirname(`${prefix}x`)));
  yield* foldersIn(root.path, prefix);
}

/** Throws for a missing store, which must not look empty, and for a link that leads out of it. */
async function assertReadable(root: FileRoot, folder: string): Promise<void> {
  await root.check();
  await guardIfThere(root, join(root.path, folder));
}

async function* foldersIn(root: string, prefix: string): AsyncGenerator<string> {
  for await (const name of sortedNames(root, prefix, everythingBelow(prefix))) {
    if (!isFolder(name)) continue;
    // An empty folder is being pruned or about to be used; S3 has no empty folders.
    const path = `${prefix}${name}`;
    if (await mayHoldObject(root, path)) yield path;
  }
}

/** Also true for a folder that cannot be read: reading it reports the failure. */
async function mayHoldObject(root: string, folder: string): Promise<boolean> {
  try {
    const first = await walk(root, folder, everythingBelow(folder)).next();
    return !first.done;
  } catch {
    return true;
  }
}

function everythingBelow(prefix: string): ListSearch {
  return { prefix, startAfter: '', names: MAX_NAMES };
}

async function* walk(root: string, folder: string, search: ListSearch): AsyncGenerator<string> {
  for await (const name of sortedNames(root, folder, search)) {
    search.signal?.throwIfAborted();
    if (isFolder(name)) yield* walk(root, folder + name, search);
    else yield folder + name;
  }
}

/**
 * The names in a folder that may match the search, in order. Names of folders end in `/`, so that `a-b` comes before `a/b`, and `a0` after.
 */
async function* sortedNames(root: string, folder: string, search: ListSearch): AsyncGenerator<string> {
  if (search.anyOrder) return yield* namesIn(root, folder, search);
  for (let last = ''; ; ) {
    const names: string[] = await namesAfter(root, folder, search, last);
    yield* names;
    if (names.length < search.names) return;
    last = names.at(-1) ?? '';
  }
}

function isFolder(name: string): boolean {
  return name.endsWith('/');
}

/** The first of these names after `last`. */
async function namesAfter(root: string, folder: string, search: ListSearch, last: string): Promise<string[]> {
  const first = createFirstNames(search.names);
  const isWanted = (name: string) => compareKeys(name, last) > 0 && first.mayBe(name);
  for await (const name of namesIn(root, folder, search, isWanted)) first.add(name);
  return first.sorted();
}

/** The names in the order of the folder. Most names of a large folder are skipped, so the cheapest check comes first. */
async function* namesIn(
  root: string,
  folder: string,
  search: ListSearch,
  isWanted = (_name: string) => true,
): AsyncGenerator<string> {
  try {
    for await (const dirent of await opendir(join(root, folder), { bufferSize: READ_AT_ONCE })) {
      search.signal?.throwIfAborted();
      const name = nameOf(dirent);
      if (name !== null && isWanted(name) && mayHold(folder, name, search)) yield name;
    }
  } catch (error) {
    if (isAbsent(error)) return;
    if (errnoOf(error) === null) throw error;
    const failure = fileStoreError('list', folder, error);
    if (search.onUnreadable === undefined) throw failure;
    search.onUnreadable(folder, failure);
  }
}

function nameOf(dirent: Dirent): string | null {
  if (dirent.isDirectory()) return `${dirent.name}/`;
  return dirent.isFile() ? dirent.name : null;
}

function mayHold(folder: string, name: string, search: ListSearch): boolean {
  const { prefix, startAfter } = search;
  const key = folder + name;
  if (key === `${MADE_BY_FILE_SYSTEM}/`) return false;
  if (search.direct && isFolder(name)) return false;
  // Names sort like their keys, and are cheaper to compare.
  const isInFolder = startAfter.startsWith(folder);
  const after = isInFolder ? startAfter.slice(folder.length) : startAfter;
  const place = isInFolder ? name : key;
  if (after !== '' && compareKeys(place, after) <= 0 && !(isFolder(name) && after.startsWith(place)))
    return false;
  if (!key.startsWith(prefix) && !(isFolder(name) && prefix.startsWith(key))) return false;
  return isListed(isFolder(name) ? key.slice(0, -1) : key, prefix);
}

/** Collects names, and keeps only the first `count` in order. */
function createFirstNames(count: number) {
  let kept: string[] = [];
  /** Names after it are not among the first. */
  let end: string | null = null;

  function trim(): string[] {
    kept = sortKeys(kept).slice(0, count);
    if (kept.length === count) end = kept.at(-1) ?? null;
    return kept;
  }

  return {
    mayBe: (name: string) => end === null || compareKeys(name, end) <= 0,
    add(name: string): void {
      if (kept.push(name) >= 2 * count) trim();
    },
    sorted: trim,
  };
}

async function describe(root: string, key: string): Promise<ListedObject | null> {
  // BigInts, as wherever file times are compared: numbers would be rounded to other milliseconds.
  const file = await lstat(join(root, key), { bigint: true }).catch(ifAbsent(null));
  return file && { key, size: Number(file.size), modifiedAt: file.mtime };
}

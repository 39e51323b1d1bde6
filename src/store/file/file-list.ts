import type { Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { compareKeys, isListed } from '../object-key.js';
import type { ListedObject, ListRange } from '../object-store.js';
import { ifAbsent, isAbsent } from './file-errors.js';
import type { FileRoot } from './file-root.js';

/** Names of a folder in memory at a time. A larger folder is read again for each further batch. */
const MAX_NAMES = 10_000;
/** Entries that one call to the system brings. */
const READ_AT_ONCE = 1024;

interface ListSearch {
  readonly prefix: string;
  readonly startAfter: string;
  readonly names: number;
  readonly signal?: AbortSignal | undefined;
  readonly onPassed?: ListRange['onPassed'];
}

/**
 * Lists the objects below a prefix in S3's order. Does not read folders that are wholly before `startAfter` or outside the prefix.
 * Symbolic links count neither as objects nor as folders.
 */
export async function* listFiles(
  root: FileRoot,
  prefix: string,
  range: ListRange = {},
): AsyncGenerator<ListedObject> {
  let left = range.limit ?? Number.POSITIVE_INFINITY;
  for await (const key of walkBelow(root, prefix, range)) {
    const object = await describe(root.path, key);
    if (object === null) continue;
    yield object;
    left -= 1;
    if (left === 0) return;
  }
}

/** The keys of the same objects. */
export async function* listFileKeys(
  root: FileRoot,
  prefix: string,
  range: ListRange = {},
): AsyncGenerator<string> {
  let left = range.limit ?? Number.POSITIVE_INFINITY;
  for await (const key of walkBelow(root, prefix, range)) {
    yield key;
    left -= 1;
    if (left === 0) return;
  }
}

async function* walkBelow(
  root: FileRoot,
  prefix: string,
  { startAfter = '', limit = Number.POSITIVE_INFINITY, signal, onPassed }: ListRange,
): AsyncGenerator<string> {
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  await assertReadable(root, folder);
  const names = Math.min(limit, MAX_NAMES);
  yield* walk(root.path, folder, { prefix, startAfter, names, signal, onPassed });
}

/** Lists the immediate sub-folders of `prefix` (empty or ending in `/`) that hold an object, in order. */
export async function* listFileFolders(root: FileRoot, prefix: string): AsyncGenerator<string> {
  await assertReadable(root, prefix);
  yield* foldersIn(root.path, prefix);
}

/** A missing store must not look empty, and a link must not lead out of it. */
export async function assertReadable(root: FileRoot, folder: string): Promise<void> {
  await root.check();
  await root.guard(join(root.path, folder)).catch(ifAbsent(undefined));
}

async function* foldersIn(root: string, prefix: string): AsyncGenerator<string> {
  for await (const { name, folder } of sortedEntries(root, prefix, everythingBelow(prefix))) {
    if (!folder) continue;
    // An empty folder is being pruned or about to be used; S3 has no empty folders.
    const path = `${prefix}${name}`;
    const first = await walk(root, path, everythingBelow(path)).next();
    if (!first.done) yield path;
  }
}

function everythingBelow(prefix: string): ListSearch {
  return { prefix, startAfter: '', names: MAX_NAMES };
}

async function* walk(root: string, folder: string, search: ListSearch): AsyncGenerator<string> {
  for await (const entry of sortedEntries(root, folder, search)) {
    search.signal?.throwIfAborted();
    const key = `${folder}${entry.name}`;
    if (entry.folder) yield* walk(root, key, search);
    else yield key;
  }
}

interface Entry {
  /** Folders end in `/`, so that `a-b` comes before `a/b` and `a0` after it. */
  readonly name: string;
  readonly folder: boolean;
}

/** The entries of a folder that may hold what is searched, in order. */
async function* sortedEntries(root: string, folder: string, search: ListSearch): AsyncGenerator<Entry> {
  for (let last: string | null = null; ; ) {
    const entries: Entry[] = await entriesAfter(root, folder, search, last);
    yield* entries;
    last = entries.at(-1)?.name ?? null;
    if (last === null || entries.length < search.names) return;
  }
}

/** The first of these entries behind a name. */
async function entriesAfter(
  root: string,
  folder: string,
  search: ListSearch,
  last: string | null,
): Promise<Entry[]> {
  const first = createFirstEntries(search.names);
  try {
    for await (const dirent of await opendir(join(root, folder), { bufferSize: READ_AT_ONCE })) {
      search.signal?.throwIfAborted();
      const entry = entryOf(dirent);
      if (entry === null && `${folder}${dirent.name}`.startsWith(search.prefix))
        search.onPassed?.(`${folder}${dirent.name}`);
      if (entry === null || (last !== null && compareKeys(entry.name, last) <= 0)) continue;
      if (mayHold(`${folder}${entry.name}`, entry.folder, search)) first.add(entry);
    }
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
  return first.sorted();
}

function entryOf(dirent: Dirent): Entry | null {
  if (dirent.isDirectory()) return { name: `${dirent.name}/`, folder: true };
  return dirent.isFile() ? { name: dirent.name, folder: false } : null;
}

/** @param key of a folder it ends in `/`: all its keys begin with it, so it sorts as they do */
function mayHold(key: string, isFolder: boolean, { prefix, startAfter, onPassed }: ListSearch): boolean {
  if (!key.startsWith(prefix) && !(isFolder && prefix.startsWith(key))) return false;
  if (startAfter !== '' && compareKeys(key, startAfter) <= 0 && !(isFolder && startAfter.startsWith(key)))
    return false;
  if (isListed(isFolder ? key.slice(0, -1) : key, prefix)) return true;
  onPassed?.(key);
  return false;
}

/** Keeps the first entries in order of any number that are added. */
function createFirstEntries(count: number) {
  let kept: Entry[] = [];
  /** What comes after it is not among the first. */
  let end: string | null = null;

  function trim(): Entry[] {
    kept.sort((a, b) => compareKeys(a.name, b.name));
    kept = kept.slice(0, count);
    if (kept.length === count) end = kept.at(-1)?.name ?? null;
    return kept;
  }

  return {
    add(entry: Entry): void {
      if (end !== null && compareKeys(entry.name, end) > 0) return;
      if (kept.push(entry) >= 2 * count) trim();
    },
    sorted: trim,
  };
}

async function describe(root: string, key: string): Promise<ListedObject | null> {
  const file = await lstat(join(root, key)).catch(ifAbsent(null));
  return file && { key, size: file.size, modifiedAt: file.mtime };
}

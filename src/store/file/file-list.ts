import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compareKeys, isListed } from '../object-key.js';
import type { ListedObject } from '../object-store.js';
import { ifAbsent } from './file-errors.js';
import type { FileRoot } from './file-root.js';

/**
 * Lists the objects below a prefix in S3's order, with one folder's names in memory at a time. Does not read folders
 * that are wholly before `startAfter` or outside the prefix. Symbolic links count neither as objects nor as folders.
 */
export async function* listFiles(
  root: FileRoot,
  prefix: string,
  startAfter: string,
): AsyncGenerator<ListedObject> {
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  await assertReadable(root, folder);
  yield* walk(root.path, folder, prefix, startAfter);
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
  for (const { name, folder } of await sortedEntries(root, prefix, prefix)) {
    if (!folder) continue;
    // An empty folder is being pruned or about to be used; S3 has no empty folders.
    const first = await walk(root, `${prefix}${name}`, `${prefix}${name}`, '').next();
    if (!first.done) yield `${prefix}${name}`;
  }
}

async function* walk(
  root: string,
  folder: string,
  prefix: string,
  startAfter: string,
): AsyncGenerator<ListedObject> {
  for (const entry of await sortedEntries(root, folder, prefix)) {
    const key = `${folder}${entry.name}`;
    if (!key.startsWith(prefix) && !(entry.folder && prefix.startsWith(key))) continue;
    if (entry.folder) {
      if (!liesWhollyBefore(key, startAfter)) yield* walk(root, key, prefix, startAfter);
    } else if (startAfter === '' || compareKeys(key, startAfter) > 0) {
      const object = await describe(root, key);
      if (object !== null) yield object;
    }
  }
}

/** `folder` ends in `/`. All its keys begin with it, so it sorts as they do. */
function liesWhollyBefore(folder: string, startAfter: string): boolean {
  return startAfter !== '' && !startAfter.startsWith(folder) && compareKeys(folder, startAfter) < 0;
}

interface Entry {
  /** Folders end in `/`, so that `a-b` comes before `a/b` and `a0` after it. */
  readonly name: string;
  readonly folder: boolean;
}

async function sortedEntries(root: string, folder: string, prefix: string): Promise<Entry[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(ifAbsent<Dirent[]>([]));
  return entries
    .filter((entry) => (entry.isFile() || entry.isDirectory()) && isListed(folder + entry.name, prefix))
    .map((entry) => ({
      name: entry.isDirectory() ? `${entry.name}/` : entry.name,
      folder: entry.isDirectory(),
    }))
    .map((entry) => ({ entry, bytes: Buffer.from(entry.name) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
    .map(({ entry }) => entry);
}

async function describe(root: string, key: string): Promise<ListedObject | null> {
  const file = await lstat(join(root, key)).catch(ifAbsent(null));
  return file && { key, size: file.size, modifiedAt: file.mtime };
}

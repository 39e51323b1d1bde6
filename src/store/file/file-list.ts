import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compareKeys, isListed } from '../object-key.js';
import type { ListedObject } from '../object-store.js';
import { isAbsent } from './file-errors.js';
import type { FileRoot } from './file-root.js';

/**
 * Objects below a prefix in S3's order, one folder's names in memory at a time. Folders that lie wholly
 * before `startAfter` or outside the prefix are not read. Symbolic links are no objects and no folders.
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

/** Immediate sub-folders of `prefix` (empty or ending in `/`) that hold anything, in order. */
export async function* listFolders(root: FileRoot, prefix: string): AsyncGenerator<string> {
  await assertReadable(root, prefix);
  yield* foldersIn(root.path, prefix);
}

/** A store that is gone must not look empty, and a link must not lead out of it. */
async function assertReadable(root: FileRoot, folder: string): Promise<void> {
  await root.check();
  await root.guard(join(root.path, folder)).catch((error: unknown) => {
    if (!isAbsent(error)) throw error;
  });
}

async function* foldersIn(root: string, prefix: string): AsyncGenerator<string> {
  for (const { name, folder } of await sortedEntries(root, prefix, prefix)) {
    if (!folder) continue;
    // An emptied folder is being pruned, or about to be used: for a bucket reader it is not there.
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

/** `folder` ends in `/`. All its keys share it as a prefix, so it orders as they do. */
function liesWhollyBefore(folder: string, startAfter: string): boolean {
  return startAfter !== '' && !startAfter.startsWith(folder) && compareKeys(folder, startAfter) < 0;
}

interface Entry {
  /** Folders end in `/`, which is what makes `a-b` come before `a/b` and `a0` after it. */
  readonly name: string;
  readonly folder: boolean;
}

async function sortedEntries(root: string, folder: string, prefix: string): Promise<Entry[]> {
  const entries = await entriesOf(join(root, folder));
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

async function entriesOf(path: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

async function describe(root: string, key: string): Promise<ListedObject | null> {
  try {
    const { size, mtime } = await lstat(join(root, key));
    return { key, size, modifiedAt: mtime };
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

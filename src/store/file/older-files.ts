import type { Dir } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isListed } from '../object-key.js';
import type { AgeSearch, ListedObject } from '../object-store.js';
import { fileStoreError, ifAbsent } from './file-errors.js';
import { assertReadable } from './file-list.js';
import { type FileRoot, MADE_BY_FILE_SYSTEM } from './file-root.js';

/** Finds old objects below a prefix; see `ObjectExpiry.older`. Symbolic links count neither as objects nor as folders. */
export async function* olderFiles(
  root: FileRoot,
  prefix: string,
  search: AgeSearch,
): AsyncGenerator<ListedObject> {
  await assertReadable(root, prefix);
  yield* walk({ root: root.path, prefix, search }, prefix);
  // A store that was unmounted meanwhile looks empty from then on.
  await root.check();
}

interface Walk {
  readonly root: string;
  readonly prefix: string;
  readonly search: AgeSearch;
}

/** `readdir` would hold the names of a million jobs at once. */
async function* walk(given: Walk, folder: string): AsyncGenerator<ListedObject> {
  const entries = await readable(given, folder, () => openFolder(join(given.root, folder)));
  if (entries === null) return;
  try {
    for (;;) {
      await given.search.pause?.();
      if (given.search.signal?.aborted) return;
      const entry = await readable(given, folder, () => entries.read());
      if (entry === null) break;
      const key = `${folder}${entry.name}`;
      if (!isListed(key, given.prefix) || key === MADE_BY_FILE_SYSTEM) continue;
      if (entry.isDirectory()) yield* walk(given, `${key}/`);
      else if (entry.isFile()) {
        const object = await readable(given, key, () => olderThan(given.root, key, given.search.before(key)));
        if (object !== null) yield object;
      }
    }
  } finally {
    await entries.close();
  }
}

function openFolder(path: string): Promise<Dir | null> {
  return opendir(path, { bufferSize: 256 }).catch(ifAbsent(null));
}

/** Null for what cannot be read, which is reported. */
async function readable<T>({ search }: Walk, key: string, read: () => Promise<T | null>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    search.onUnreadable(key, fileStoreError('older', key, error));
    return null;
  }
}

async function olderThan(root: string, key: string, time: number | null): Promise<ListedObject | null> {
  if (time === null) return null;
  // BigInts, as in every other place where the time of a file is compared: numbers are rounded to other milliseconds.
  const file = await lstat(join(root, key), { bigint: true }).catch(ifAbsent(null));
  if (file === null || file.mtime.getTime() >= time) return null;
  return { key, size: Number(file.size), modifiedAt: file.mtime };
}

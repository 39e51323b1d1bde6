import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgeSearch, ListedObject, StoreError } from '../object-store.js';
import { fileStoreError, ifAbsent } from './file-errors.js';
import { listFileKeys } from './file-list.js';
import { type FileRoot, MADE_BY_FILE_SYSTEM } from './file-root.js';

/** Finds old objects below a prefix; see `ObjectExpiry.older`. */
export async function* olderFiles(
  root: FileRoot,
  prefix: string,
  search: AgeSearch,
): AsyncGenerator<ListedObject> {
  const isForeign = (key: string) => key.startsWith(`${MADE_BY_FILE_SYSTEM}/`);
  const onUnreadable = (key: string, error: StoreError) => {
    if (!isForeign(key)) search.onUnreadable(key, error);
  };
  for await (const key of listFileKeys(root, prefix, { anyOrder: true, onUnreadable })) {
    await search.pause?.();
    if (search.signal?.aborted) return;
    if (isForeign(key)) continue;
    const found = await ifOlder(root.path, key, search).catch((error: unknown) => {
      onUnreadable(key, fileStoreError('older', key, error));
      return null;
    });
    if (found !== null) yield found;
  }
  // A store that was unmounted meanwhile looks empty from then on.
  await root.check();
}

async function ifOlder(root: string, key: string, { before }: AgeSearch): Promise<ListedObject | null> {
  const time = before(key);
  if (time === null) return null;
  // BigInts, as in every other place where the time of a file is compared: numbers are rounded to other milliseconds.
  const file = await lstat(join(root, key), { bigint: true }).catch(ifAbsent(null));
  if (file === null || file.mtime.getTime() >= time) return null;
  return { key, size: Number(file.size), modifiedAt: file.mtime };
}

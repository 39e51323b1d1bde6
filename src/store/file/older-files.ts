import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isListed } from '../object-key.js';
import type { ListedObject } from '../object-store.js';
import { ifAbsent } from './file-errors.js';
import { assertReadable } from './file-list.js';
import type { FileRoot } from './file-root.js';

/** Finds old objects below a prefix; see `ObjectExpiry.older`. Symbolic links count neither as objects nor as folders. */
export async function* olderFiles(
  root: FileRoot,
  prefix: string,
  before: (key: string) => number | null,
): AsyncGenerator<ListedObject> {
  await assertReadable(root, prefix);
  yield* walk(root.path, prefix, prefix, before);
}

/** `readdir` would hold the names of a million jobs at once. */
async function* walk(
  root: string,
  folder: string,
  prefix: string,
  before: (key: string) => number | null,
): AsyncGenerator<ListedObject> {
  const entries = await opendir(join(root, folder)).catch(ifAbsent(null));
  if (entries === null) return;
  for await (const entry of entries) {
    const key = `${folder}${entry.name}`;
    if (!isListed(key, prefix)) continue;
    if (entry.isDirectory()) {
      yield* walk(root, `${key}/`, prefix, before);
    } else if (entry.isFile()) {
      const object = await olderThan(root, key, before(key));
      if (object !== null) yield object;
    }
  }
}

async function olderThan(root: string, key: string, time: number | null): Promise<ListedObject | null> {
  if (time === null) return null;
  // BigInts, as in every other place where the time of a file is compared: numbers are rounded to other milliseconds.
  const file = await lstat(join(root, key), { bigint: true }).catch(ifAbsent(null));
  if (file === null || file.mtime.getTime() >= time) return null;
  return { key, size: Number(file.size), modifiedAt: file.mtime };
}

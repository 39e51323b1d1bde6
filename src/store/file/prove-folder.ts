import { lstat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { BlockedKeyError } from '../object-store.js';
import { ifAbsent } from './file-errors.js';
import { assertNotGone } from './file-folders.js';
import { assertWritable, type FileRoot } from './file-root.js';

/**
 * Proves that files can be created in the folder of a key, or that the folder can be made, by its rights. Throws `StoreGoneError` when
 * the folder is missing although the metadata of objects in it is there: it was moved away or removed.
 */
export async function proveFolder(root: FileRoot, key: string): Promise<void> {
  await root.claim();
  await root.check();
  const folder = join(root.path, dirname(key));
  const there = await lstat(folder).catch(ifAbsent(null));
  if (there === null) {
    await assertNotGone(root.path, folder, 0);
    await assertWritable(dirname(folder));
    return;
  }
  if (!there.isDirectory()) {
    const name = JSON.stringify(relative(root.path, folder));
    throw new BlockedKeyError('prove', `there is no folder but a file, a link or a device at ${name}`);
  }
  await root.guard(folder);
  await assertWritable(folder);
}

import { constants } from 'node:fs';
import { access, lstat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { BlockedKeyError } from '../object-store.js';
import { ifAbsent } from './file-errors.js';
import { assertNotGone } from './file-folders.js';
import type { FileRoot } from './file-root.js';

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
    await mayWrite(await nearest(root, dirname(folder)));
    return;
  }
  if (!there.isDirectory()) {
    const name = JSON.stringify(relative(root.path, folder));
    throw new BlockedKeyError('prove', `there is no folder but a file, a link or a device at ${name}`);
  }
  await root.guard(folder);
  await mayWrite(folder);
}

/** The nearest folder that exists, at the latest the root. */
async function nearest(root: FileRoot, folder: string): Promise<string> {
  if (folder === root.path || (await lstat(folder).catch(ifAbsent(null))) !== null) return folder;
  return nearest(root, dirname(folder));
}

function mayWrite(folder: string): Promise<void> {
  return access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
}

import { link, lstat, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { BlockedKeyError } from '../object-store.js';
import { errnoOf, ifAbsent, isAbsent } from './file-errors.js';
import { assertNotGone, type FileFolders } from './file-folders.js';
import { assertWritable, type FileRoot } from './file-root.js';
import { openTempFile } from './temp-file.js';

interface ProofParts {
  readonly root: FileRoot;
  readonly folders: FileFolders;
  /** Folder of the temporary files. */
  readonly temporary: string;
}

/**
 * Proves that objects can be created in the folder of a key or, by the permissions of its parent, that the folder can be created. Throws
 * `StoreGoneError` when the folder was moved away or removed: it is missing, but the metadata of its objects exists.
 */
export async function proveFolder(parts: ProofParts, key: string): Promise<void> {
  const { root } = parts;
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
  await proveLink(parts, key);
}

/** Links a temporary file, as each write does: permissions do not show that another file system is mounted at the folder. */
async function proveLink({ root, folders, temporary }: ProofParts, key: string): Promise<void> {
  const temp = await openTempFile(temporary, key, folders);
  const target = join(root.path, key);
  // The link stays where nothing may be deleted.
  const remove = () => rm(target, { force: true }).catch(() => undefined);
  try {
    // A killed process may have left the link.
    await remove();
    await link(temp.path, target).catch((error: unknown) => {
      // Another process is proving or pruning the folder concurrently.
      if (errnoOf(error) !== 'EEXIST' && !isAbsent(error)) throw error;
    });
    await remove();
  } finally {
    await temp.discard();
  }
}

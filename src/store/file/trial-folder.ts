import { mkdir, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileCall } from './file-errors.js';
import { assertMayBegin } from './file-root.js';

interface TrialFolder {
  readonly path: string;
  /** Removes it, and the folders that were made for it unless something else is in them by now. */
  remove(): Promise<void>;
}

/**
 * Makes a folder inside of one that holds no store yet, to try a store in it: one that began in the folder itself would hide that a volume
 * is not mounted. Throws `StoreError` where a store could not begin.
 */
export async function makeTrialFolder(directory: string): Promise<TrialFolder> {
  return fileCall('open', '', async () => {
    await assertMayBegin(directory);
    const first = await mkdir(directory, { recursive: true, mode: 0o700 });
    const path = await mkdtemp(join(directory, '.trial-'));
    return {
      path,
      async remove() {
        await rm(path, { recursive: true, force: true });
        if (first !== undefined) await removeEmpty(resolve(directory), resolve(first));
      },
    };
  });
}

/** Removes a folder and those above it up to `last`, as long as they are empty. */
async function removeEmpty(folder: string, last: string): Promise<void> {
  const removed = await rmdir(folder).then(
    () => true,
    () => false,
  );
  if (removed && folder !== last) await removeEmpty(dirname(folder), last);
}

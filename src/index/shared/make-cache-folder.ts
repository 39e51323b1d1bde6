import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder with its parents, for the user alone. Throws the error of the file system. Node's own recursive mkdir is not used: below
 * an existing folder that takes no entries (procfs) it never ends, and neither SIGTERM nor `terminate` ends its thread.
 */
export function makeCacheFolder(folder: string, isParentMissing = true): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || !isParentMissing || dirname(folder) === folder) throw error;
    makeCacheFolder(dirname(folder));
    makeCacheFolder(folder, false);
  }
}

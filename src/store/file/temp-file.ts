import { randomUUID } from 'node:crypto';
import { type FileHandle, link, lstat, readdir, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ifAbsent } from './file-errors.js';
import type { FileFolders } from './file-folders.js';
import { openIfThere, openNew } from './open-file.js';

/** A file that is not visible as an object yet, on the same file system as the folder it will be linked into. */
export interface TempFile {
  readonly path: string;
  readonly handle: FileHandle;
  /** Closes and unlinks it; other links to it stay. Never throws. */
  discard(): Promise<void>;
}

/** Leaves room for `#<uuid>` below the 255 bytes of a file name. */
const MAX_KEY_CHARACTERS = 200;

/**
 * Temporary files are named after their key, so that those below a folder are found.
 *
 * @param folder is created when missing
 */
export async function openTempFile(folder: string, key: string, folders: FileFolders): Promise<TempFile> {
  const path = await freePath(folder, key, folders);
  return tempFile(path, await openNew(path));
}

/** A further link to the file at `source`, whatever becomes of that path; null when there is none. `folder` as of `openTempFile`. */
export async function linkTempFile(
  source: string,
  folder: string,
  key: string,
  folders: FileFolders,
): Promise<TempFile | null> {
  const path = await freePath(folder, key, folders);
  const isLinked = await link(source, path).then(() => true, ifAbsent(false));
  if (!isLinked) return null;
  try {
    const handle = await openIfThere(path);
    return handle && tempFile(path, handle);
  } catch (error) {
    await unlinkTempFile(path);
    throw error;
  }
}

function tempFile(path: string, handle: FileHandle): TempFile {
  return {
    path,
    handle,
    async discard() {
      await handle.close().catch(() => undefined);
      await unlinkTempFile(path);
    },
  };
}

/** A name that is free, in the folder of temporary files. */
async function freePath(folder: string, key: string, folders: FileFolders): Promise<string> {
  await folders.ensure(folder);
  return join(folder, `${beginningOf(key)}#${randomUUID()}`);
}

/** Never throws: the sweep removes what is left. */
async function unlinkTempFile(path: string): Promise<void> {
  await unlink(path).catch(() => undefined);
}

/** Beginning of the names of temporary files for this key, or for all keys that begin so. */
function beginningOf(key: string): string {
  return encodeURIComponent(key).slice(0, MAX_KEY_CHARACTERS);
}

/** Removes the temp files for keys that begin with `prefix`; resolves to their number. Uploads that use one fail. */
export async function removeTempFiles(folder: string, prefix: string): Promise<number> {
  const names = await readdir(folder).catch(ifAbsent<string[]>([]));
  const found = names.filter((name) => name.startsWith(beginningOf(prefix)));
  await Promise.all(found.map((name) => rm(join(folder, name), { force: true })));
  return found.length;
}

/** Writes all of `bytes` at a position; repeats short writes (full disk, signal) until one fails. */
export async function writeFully(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/** Removes temp files last written before `olderThan`; resolves to their number. */
export async function sweepTempFiles(folder: string, olderThan: Date): Promise<number> {
  let swept = 0;
  for (const name of await readdir(folder).catch(ifAbsent<string[]>([]))) {
    const path = join(folder, name);
    const info = await lstat(path).catch(() => null);
    if (info === null || info.isDirectory() || info.mtime >= olderThan) continue;
    await rm(path, { force: true });
    swept += 1;
  }
  return swept;
}

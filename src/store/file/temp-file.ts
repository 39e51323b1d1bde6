import { randomUUID } from 'node:crypto';
import { type FileHandle, link, lstat, readdir, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ifAbsent } from './file-errors.js';
import type { FileFolders } from './file-folders.js';
import { openIfThere, openNew } from './open-file.js';

/** A file that is not visible as an object yet, on the file system of the folder that it will be linked into. */
export interface TempFile {
  readonly path: string;
  readonly handle: FileHandle;
  /** Closes and unlinks it; other links to it stay. Never throws. */
  discard(): Promise<void>;
}

/** Leaves room for `#<uuid>` below the 255 bytes of a file name. */
const MAX_KEY_CHARACTERS = 200;

/**
 * Opens a temporary file, named after its key, so that those of a folder can be found.
 *
 * @param folder is created when missing
 */
export async function openTempFile(folder: string, key: string, folders: FileFolders): Promise<TempFile> {
  const path = await newPath(folder, key, folders);
  return tempFile(path, await openNew(path));
}

/** Links the file at `source` as a temporary file, which outlives that path; null when there is none. @param folder as in `openTempFile` */
export async function linkTempFile(
  source: string,
  folder: string,
  key: string,
  folders: FileFolders,
): Promise<TempFile | null> {
  const path = await newPath(folder, key, folders);
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

/** An unused path in the folder of temporary files. */
async function newPath(folder: string, key: string, folders: FileFolders): Promise<string> {
  await folders.ensure(folder);
  return join(folder, `${namePrefix(key)}#${randomUUID()}`);
}

/** Never throws: the sweep removes what is left. */
async function unlinkTempFile(path: string): Promise<void> {
  await unlink(path).catch(() => undefined);
}

/** Prefix of the names of temporary files for this key, or for all keys with this prefix. */
function namePrefix(key: string): string {
  return encodeURIComponent(key).slice(0, MAX_KEY_CHARACTERS);
}

/** Removes the temp files for keys that begin with `prefix`; resolves to their number. Uploads that use one fail. */
export async function removeTempFiles(folder: string, prefix: string): Promise<number> {
  const names = await readdir(folder).catch(ifAbsent<string[]>([]));
  const found = names.filter((name) => name.startsWith(namePrefix(prefix)));
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

import { randomUUID } from 'node:crypto';
import { type FileHandle, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ifAbsent } from './file-errors.js';
import type { FileFolders } from './file-folders.js';
import { openNew } from './open-file.js';

/** A file that is not visible as an object yet, on the same file system as the folder it will be linked into. */
export interface TempFile {
  readonly path: string;
  readonly handle: FileHandle;
  /** Closes and unlinks it; other links to it stay. Never throws. */
  discard(): Promise<void>;
}

/** @param folder is created when missing */
export async function openTempFile(folder: string, folders: FileFolders): Promise<TempFile> {
  await folders.ensure(folder);
  const path = join(folder, randomUUID());
  const handle = await openNew(path);
  return {
    path,
    handle,
    async discard() {
      await handle.close().catch(() => undefined);
      // The sweep removes it if this fails.
      await rm(path, { force: true }).catch(() => undefined);
    },
  };
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

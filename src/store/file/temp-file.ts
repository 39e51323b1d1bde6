import { randomUUID } from 'node:crypto';
import { type FileHandle, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAbsent } from './file-errors.js';
import type { FileFolders } from './file-folders.js';
import { openNew } from './open-file.js';

/** A file nobody sees yet, on the same file system as where it will be linked to. */
export interface TempFile {
  readonly path: string;
  readonly handle: FileHandle;
  /** Closes and removes it; whatever is linked to it stays. Never throws. */
  discard(): Promise<void>;
}

/** @param folder made when missing */
export async function openTempFile(folder: string, folders: FileFolders): Promise<TempFile> {
  await folders.ensure(folder);
  const path = join(folder, randomUUID());
  const handle = await openNew(path);
  return {
    path,
    handle,
    async discard() {
      await handle.close().catch(() => undefined);
      // What cannot be removed now is found by the sweep.
      await rm(path, { force: true }).catch(() => undefined);
    },
  };
}

/** Writes all of `bytes` at a position; a short write (full disk, signal) goes on until it fails or is done. */
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
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    const info = await lstat(path).catch(() => null);
    if (info === null || info.isDirectory() || info.mtime >= olderThan) continue;
    await rm(path, { force: true });
    swept += 1;
  }
  return swept;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

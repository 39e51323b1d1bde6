import { constants, type FileHandle, open } from 'node:fs/promises';
import { ifAbsent } from './file-errors.js';

const { O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Readable by the owner alone: transcripts are personal data. */
const FILE_MODE = 0o600;

/**
 * Opens a file for reading; null when there is none. Fails with ELOOP at a symbolic link. O_NONBLOCK: opening a named
 * pipe would otherwise block a thread forever.
 */
export function openIfThere(path: string): Promise<FileHandle | null> {
  return open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(ifAbsent(null));
}

/** Opens a folder, to sync it; null when there is none. */
export function openFolderIfThere(path: string): Promise<FileHandle | null> {
  return open(path, O_RDONLY).catch(ifAbsent(null));
}

/** Opens a file for writing from its beginning; creates it when missing. Fails with ELOOP at a symbolic link. */
export function openToWrite(path: string): Promise<FileHandle> {
  return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, FILE_MODE);
}

/** Creates a file that must not exist yet and opens it for writing. */
export function openNew(path: string): Promise<FileHandle> {
  return open(path, 'wx', FILE_MODE);
}

import { constants, type FileHandle, open } from 'node:fs/promises';
import { isAbsent } from './file-errors.js';

const { O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** What the store keeps is nobody else's to read: transcripts are personal data. */
const FILE_MODE = 0o600;

/**
 * Opens a file for reading; null when there is none. Fails with ELOOP at a symbolic link. O_NONBLOCK keeps a
 * named pipe from holding a thread for ever.
 */
export function openIfThere(path: string): Promise<FileHandle | null> {
  return nullIfAbsent(open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
}

/** Opens a folder, to sync it; null when there is none. */
export function openFolderIfThere(path: string): Promise<FileHandle | null> {
  return nullIfAbsent(open(path, O_RDONLY));
}

async function nullIfAbsent(opening: Promise<FileHandle>): Promise<FileHandle | null> {
  try {
    return await opening;
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** Opens a file for writing from its beginning, made when missing. Fails with ELOOP at a symbolic link. */
export function openToWrite(path: string): Promise<FileHandle> {
  return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, FILE_MODE);
}

/** Makes a file that must not be there yet; opens it for writing. */
export function openNew(path: string): Promise<FileHandle> {
  return open(path, 'wx', FILE_MODE);
}

import { type FileHandle, open } from 'node:fs/promises';
import { isAbsent } from './file-errors.js';

/** Opens a file or folder for reading; null when there is none. */
export async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

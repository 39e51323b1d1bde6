import { dirname } from 'node:path';
import { createLedgerIndex, type LedgerIndex } from './ledger-index.js';
import { takeLock } from './shared/index-lock.js';
import { type IndexReader, openIndexReader } from './shared/index-reader.js';
import { makeCacheFolder } from './shared/make-cache-folder.js';

/** Location of an index. */
export interface IndexPlace {
  /** Null: in memory. */
  readonly path: string | null;
  /** Why it is in memory: there is no cache directory, another process writes the file, or the file cannot be written. */
  readonly cause: 'no-folder' | 'in-use' | 'unwritable' | null;
}

/** Files that an index can be in. */
export interface IndexFiles {
  /** The file that this process writes; null: it writes none. */
  readonly path: string | null;
  /** A file that another process may be writing, and that is then read instead. Absent: no index is shared. */
  readonly sharedPath?: string | null | undefined;
}

export interface OpenedIndex {
  readonly index: LedgerIndex | IndexReader;
  readonly place: IndexPlace;
  /** Whether another process writes the file, and this one only reads it. */
  readonly isShared: boolean;
}

/**
 * Opens the index of a store: the one that a running process writes; else this process's own file, whose folders are created; else one in
 * memory. Only one process writes a file, until that process ends.
 */
export function openIndex({ path, sharedPath }: IndexFiles, storeId: string): OpenedIndex {
  const mayRead = sharedPath !== undefined;
  return (
    (mayRead ? openShared(sharedPath, storeId) : null) ??
    openOwn(path, storeId) ??
    (mayRead ? openShared(path, storeId) : null) ??
    inMemory('in-use', storeId)
  );
}

function openShared(path: string | null, storeId: string): OpenedIndex | null {
  const index = path === null ? null : openIndexReader(path, storeId);
  return index && { index, place: { path, cause: null }, isShared: true };
}

/** Opens the own file; null when another process has locked it. */
function openOwn(path: string | null, storeId: string): OpenedIndex | null {
  if (path === null) return inMemory('no-folder', storeId);
  let lock: ReturnType<typeof takeLock> = null;
  try {
    makeCacheFolder(dirname(path));
    lock = takeLock(path);
    if (lock === null) return null;
    const { close, ...index } = createLedgerIndex(path, storeId);
    const held = lock;
    const closeBoth = () => {
      close();
      held.close();
    };
    return { index: { ...index, close: closeBoth }, place: { path, cause: null }, isShared: false };
  } catch {
    // The disk is full or read-only, or the path is no file.
    lock?.close();
    return inMemory('unwritable', storeId);
  }
}

function inMemory(cause: NonNullable<IndexPlace['cause']>, storeId: string): OpenedIndex {
  return { index: createLedgerIndex(':memory:', storeId), place: { path: null, cause }, isShared: false };
}

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { takeLock } from './beside/index-lock.js';
import { type IndexReader, openIndexReader } from './beside/index-reader.js';
import { createLedgerIndex, type LedgerIndex } from './ledger-index.js';

/** Where an index is. */
export interface IndexPlace {
  /** Null: in memory. */
  readonly path: string | null;
  /** Why it is in memory: there is no folder for it, another process writes the file, or it cannot be written. */
  readonly cause: 'no-folder' | 'in-use' | 'unwritable' | null;
}

/** Files that an index can be in. */
export interface IndexFiles {
  /** The one that this process writes; null: it writes none. */
  readonly path: string | null;
  /** The one that a running process may write: it is read instead. Default: none is. */
  readonly beside?: string | null | undefined;
}

export interface OpenedIndex {
  readonly index: LedgerIndex | IndexReader;
  readonly place: IndexPlace;
  /** Whether another process writes the file: this one reads it. */
  readonly isShared: boolean;
}

/**
 * Opens the index of a store: the one that a running process keeps; else the one of this process, in folders that are made; else one in
 * memory. A file is written by one process alone until that ends, however it ends.
 */
export function openIndex({ path, beside }: IndexFiles, storeId: string): OpenedIndex {
  const mayRead = beside !== undefined;
  return (
    (mayRead ? readBeside(beside, storeId) : null) ??
    openOwn(path, storeId) ??
    (mayRead ? readBeside(path, storeId) : null) ??
    inMemory('in-use', storeId)
  );
}

function readBeside(path: string | null, storeId: string): OpenedIndex | null {
  const index = path === null ? null : openIndexReader(path, storeId);
  return index && { index, place: { path, cause: null }, isShared: true };
}

/** Null when another process has the file. */
function openOwn(path: string | null, storeId: string): OpenedIndex | null {
  if (path === null) return inMemory('no-folder', storeId);
  let lock: ReturnType<typeof takeLock> = null;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
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

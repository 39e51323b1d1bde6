import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createLedgerIndex, type LedgerIndex } from './ledger-index.js';

/** Where an index is. */
export interface IndexPlace {
  /** Null: in memory. */
  readonly path: string | null;
  /** Why it is in memory: there is no folder for it, another process writes the file, or it cannot be written. */
  readonly cause: 'no-folder' | 'in-use' | 'unwritable' | null;
}

/**
 * Opens the index at a path, in folders that are made; else one in memory. The file is this process' alone until it ends, however it ends;
 * others may read it.
 */
export function openIndex(path: string | null, storeId: string): { index: LedgerIndex; place: IndexPlace } {
  if (path === null) return inMemory('no-folder', storeId);
  let lock: DatabaseSync | null = null;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    lock = lockOf(path);
    if (lock === null) return inMemory('in-use', storeId);
    const { close, ...index } = createLedgerIndex(path, storeId);
    const held = lock;
    const closeBoth = () => {
      close();
      held.close();
    };
    return { index: { ...index, close: closeBoth }, place: { path, cause: null } };
  } catch {
    // The disk is full or read-only, or the path is no file.
    lock?.close();
    return inMemory('unwritable', storeId);
  }
}

function inMemory(cause: NonNullable<IndexPlace['cause']>, storeId: string) {
  return { index: createLedgerIndex(':memory:', storeId), place: { path: null, cause } };
}

/** SQLITE_BUSY. */
const BUSY = 5;

/** A transaction that stays open: the system ends it with the process. Null when another process has it. */
function lockOf(path: string): DatabaseSync | null {
  const lock = new DatabaseSync(`${path}-lock`);
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode === BUSY) return null;
    throw error;
  }
}

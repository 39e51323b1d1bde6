import { DatabaseSync } from 'node:sqlite';
import { codeOf } from '../open-database.js';

/** SQLITE_BUSY. */
const BUSY = 5;
/** Milliseconds for which a writer waits for the lock: whoever looks whether somebody has it takes a moment. */
const WAITS = 1_000;

/** A transaction that stays open: the system ends it with the process. Null when another process has it. */
export function takeLock(path: string): DatabaseSync | null {
  const lock = new DatabaseSync(`${path}-lock`, { timeout: WAITS });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (codeOf(error) === BUSY) return null;
    throw error;
  }
}

/** Whether a process writes the index at a path. False as well where that cannot be seen. */
export function isLocked(path: string): boolean {
  let lock: DatabaseSync | null = null;
  try {
    lock = new DatabaseSync(`${path}-lock`, { readOnly: true });
    lock.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    return codeOf(error) === BUSY;
  } finally {
    lock?.close();
  }
}

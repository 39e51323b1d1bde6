import { DatabaseSync } from 'node:sqlite';
import { codeOf } from '../open-database.js';

/** SQLITE_BUSY. */
const BUSY = 5;
/** Milliseconds that a writer waits for the lock, because `isLocked` of another process holds it for a moment. */
const WAITS = 1_000;

/** Locks an index by a transaction that stays open until the process ends. Null when another process holds the lock. */
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

/** Whether a process writes the index at a path; also false when that cannot be determined. */
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

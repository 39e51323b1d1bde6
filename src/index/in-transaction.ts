import type { DatabaseSync } from 'node:sqlite';

/** Runs the work in a transaction, which is rolled back when it throws. */
export function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    // SQLite itself rolls back when the disk is full.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

/**
 * Bytes of the database without free pages, and of its write-ahead log. Above the limit the log is checkpointed first.
 */
export function usedBytes(database: DatabaseSync, path: string, limit: number): number {
  const used = () => pageBytes(database) + walBytes(path);
  if (used() > limit) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  return used();
}

function pageBytes(database: DatabaseSync): number {
  const read = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  return (read('page_count') - read('freelist_count')) * read('page_size');
}

function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Free fraction of the file system; 1 in memory. */
export function freeShare(path: string): number {
  if (path === ':memory:') return 1;
  const { bavail, blocks } = statfsSync(dirname(path));
  return bavail / blocks;
}

/** The oldest hour in the index; null for an empty one. */
export function oldestHour(database: DatabaseSync): number | null {
  const hour = database.prepare('SELECT min(hour) AS hour FROM runs WHERE number > 0').get()?.hour;
  return typeof hour === 'number' ? hour : null;
}

/** Deletes failures of jobs whose results the service no longer keeps. */
export function deleteFailuresBefore(database: DatabaseSync, received: number): void {
  database.prepare('DELETE FROM failures WHERE received < ?').run(received);
}

import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { HOUR } from '../../ledger/hours.js';
import { WIDTHS } from '../figure-widths.js';
import { inTransaction } from '../in-transaction.js';
import { LINES } from '../schema.js';

/** Bytes of the database without free pages. */
export function usedBytes(database: DatabaseSync): number {
  const read = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  return (read('page_count') - read('freelist_count')) * read('page_size');
}

/** The share of the file system that is free; 1 in memory. */
export function freeShare(path: string): number {
  if (path === ':memory:') return 1;
  const { bavail, blocks } = statfsSync(dirname(path));
  return bavail / blocks;
}

/** The hour that begins the index; null for an empty one. */
export function oldestHour(database: DatabaseSync): number | null {
  const hour = database.prepare('SELECT min(start) AS hour FROM figures WHERE width = ?').get(HOUR)?.hour;
  return typeof hour === 'number' ? hour : null;
}

/**
 * Deletes the lines of the hours that began before an instant. Open failures stay, with the places of their lines: a job may fail for as long as
 * the service keeps its results.
 */
export function deleteBefore(database: DatabaseSync, hour: number): void {
  inTransaction(database, () => {
    const old = 'SELECT id FROM runs WHERE hour < ?';
    const segments = database.prepare(`SELECT id FROM segments WHERE run IN (${old})`).all(hour);
    const deleteLines = database.prepare('DELETE FROM lines WHERE id >= ? AND id < ?');
    for (const { id } of segments) deleteLines.run(Number(id) * LINES, (Number(id) + 1) * LINES);
    for (const table of ['figures', 'durations'])
      for (const width of WIDTHS)
        database.prepare(`DELETE FROM ${table} WHERE width = ? AND start < ?`).run(width, hour);
    database.prepare('DELETE FROM hours WHERE hour < ?').run(hour);
    database.prepare('DELETE FROM contexts WHERE written < ?').run(hour);
    database.prepare(`DELETE FROM missing WHERE run IN (${old})`).run(hour);
    const failing = `SELECT line / ${LINES} FROM failures`;
    database.prepare(`DELETE FROM segments WHERE run IN (${old}) AND id NOT IN (${failing})`).run(hour);
    database.prepare('DELETE FROM runs WHERE hour < ? AND id NOT IN (SELECT run FROM segments)').run(hour);
    // Should the index reach back again, these hours are read from their beginning.
    database.prepare('UPDATE runs SET number = 0 WHERE hour < ?').run(hour);
  });
}

/** Deletes failures whose results the service no longer keeps. */
export function deleteFailuresBefore(database: DatabaseSync, received: number): void {
  database.prepare('DELETE FROM failures WHERE received < ?').run(received);
}

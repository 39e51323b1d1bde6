import type { DatabaseSync } from 'node:sqlite';
import { HOUR } from '../../ledger/hours.js';
import { inTransaction } from '../in-transaction.js';
import { LINES, WIDTHS } from '../schema.js';
import { oldestHour } from './trim-index.js';

/** Lines that a step comes to. */
const LINES_AT_ONCE = 10_000;

/**
 * Deletes an hour and its position: should it come back, it is read from its beginning. Open failures stay, with the places of their lines: a
 * job may fail for as long as the service keeps its results.
 */
export function deleteHour(database: DatabaseSync, hour: number): void {
  inTransaction(database, () => {
    deleteLines(database, hour, Number.POSITIVE_INFINITY);
    deleteRest(database, hour);
  });
}

/**
 * Deletes all hours before one in the same way, in steps that hold no question up and keep the write-ahead log small. Where a process ends
 * meanwhile, the contexts of lines that it deleted go with the next hours that are deleted.
 */
export function* deleteHoursBefore(database: DatabaseSync, before: number): Generator<void> {
  database.prepare('DELETE FROM faults WHERE hour < ?').run(before);
  for (let hour = oldestHour(database); hour !== null && hour < before; hour = oldestHour(database)) {
    const oldest = hour;
    inTransaction(database, () => {
      if (deleteLines(database, oldest, LINES_AT_ONCE)) deleteRest(database, oldest);
    });
    yield;
  }
  yield* deleteContextsBefore(database, before);
}

/** Deletes lines from the ends of the runs of an hour, and moves the positions back before them. Returns whether none is left. */
function deleteLines(database: DatabaseSync, hour: number, most: number): boolean {
  const segments = database.prepare(
    `SELECT s.id, s.run, s.number FROM runs r CROSS JOIN segments s ON s.run = r.id AND s.number <= r.number
     WHERE r.hour = ? AND r.number > 0 ORDER BY r.id, s.number DESC LIMIT 256`,
  );
  const removals = ['lines', 'attempts', 'bodies', 'body_acts'].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE id >= ? AND id < ?`),
  );
  const move = database.prepare('UPDATE runs SET number = ? WHERE id = ?');
  for (let deleted = 0; ; ) {
    const found = segments.all(hour);
    if (found.length === 0) return true;
    for (const { id, run, number } of found) {
      if (deleted >= most) return false;
      for (const table of removals)
        deleted += Number(table.run(Number(id) * LINES, (Number(id) + 1) * LINES).changes);
      move.run(Number(number) - 1, Number(run));
    }
  }
}

function deleteRest(database: DatabaseSync, hour: number): void {
  const runs = 'SELECT id FROM runs WHERE hour = ?';
  const run = (text: string, ...values: readonly number[]) => database.prepare(text).run(...values);
  for (const width of WIDTHS)
    run('DELETE FROM figures WHERE width = ? AND start >= ? AND start < ?', width, hour, hour + HOUR);
  run(`DELETE FROM missing WHERE run IN (${runs})`, hour);
  run('DELETE FROM faults WHERE hour = ?', hour);
  const failing = `SELECT line / ${LINES} FROM failures`;
  run(`DELETE FROM segments WHERE run IN (${runs}) AND id NOT IN (${failing})`, hour);
  run('UPDATE runs SET number = 0 WHERE hour = ?', hour);
  run(
    `DELETE FROM runs WHERE hour <= ? AND number = 0 AND NOT EXISTS (SELECT 1 FROM segments s WHERE s.run = runs.id)
       AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.run = runs.id)`,
    hour,
  );
}

/** Parts of the hashes that a step comes to. */
const SLICES = 64n;
const [FIRST_HASH, HASHES] = [-(2n ** 62n), 2n ** 63n];

/** The order of contexts is that of the hashes, so that it takes a pass over all. */
function* deleteContextsBefore(database: DatabaseSync, written: number): Generator<void> {
  const remove = database.prepare(
    'DELETE FROM contexts WHERE name = ? AND hash >= ? AND hash < ? AND written < ?',
  );
  const slice = (number: bigint) => FIRST_HASH + (HASHES / SLICES) * number;
  const next = database.prepare('SELECT min(name) AS name FROM contexts WHERE name > ?');
  for (let name = next.get(-1)?.name; typeof name === 'number'; name = next.get(name)?.name)
    for (let number = 0n; number < SLICES; number += 1n) {
      remove.run(name, slice(number), slice(number + 1n), written);
      yield;
    }
}

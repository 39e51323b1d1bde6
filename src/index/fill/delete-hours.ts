import type { DatabaseSync } from 'node:sqlite';
import { HOUR } from '../../ledger/hours.js';
import { inTransaction } from '../in-transaction.js';
import { LINES } from '../schema.js';

/**
 * Deletes hours in steps that hold no question up and keep the write-ahead log small. Open failures stay, with the places of their lines:
 * a job may fail for as long as the service keeps its results.
 */
export interface HourDeletion {
  /** Begins to delete an hour. */
  begin(hour: number): void;
  /** Begins to delete all hours before one. */
  beginBefore(hour: number): void;
  /** Deletes some lines. Returns whether anything is left to delete. */
  step(): boolean;
}

/** Lines, and values of contexts, that a step comes to. */
const LINES_AT_ONCE = 10_000;
const CONTEXTS_AT_ONCE = 50_000;

/** A process that ends meanwhile leaves the hours marked; the contexts of their lines go with the next hours that are deleted. */
export function createHourDeletion(database: DatabaseSync): HourDeletion {
  const contexts = createContextSweep(database);
  const mark = (condition: string, hour: number) =>
    database
      .prepare(
        `INSERT OR REPLACE INTO hours SELECT hour, 1 FROM
           (SELECT hour FROM runs WHERE number > 0 UNION SELECT hour FROM hours) WHERE ${condition}`,
      )
      .run(hour);
  const nextHour = database.prepare('SELECT min(hour) AS hour FROM hours WHERE is_deleted');
  return {
    begin: (hour) => void mark('hour = ?', hour),
    beginBefore(hour) {
      mark('hour < ?', hour);
      contexts.begin(hour);
    },
    step() {
      const hour = nextHour.get()?.hour;
      if (typeof hour !== 'number') return contexts.step();
      inTransaction(database, () => {
        if (deleteLines(database, hour)) deleteRest(database, hour);
      });
      return true;
    },
  };
}

/**
 * Deletes lines from the ends of the runs of an hour, and moves the positions back before them. Returns whether none is left.
 */
function deleteLines(database: DatabaseSync, hour: number): boolean {
  const segments = database.prepare(
    `SELECT s.id, s.run, s.number FROM runs r CROSS JOIN segments s ON s.run = r.id AND s.number <= r.number
     WHERE r.hour = ? AND r.number > 0 ORDER BY r.id, s.number DESC LIMIT 256`,
  );
  const removals = ['lines', 'attempts', 'bodies', 'body_acts'].map((table) =>
    database.prepare(
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE id >= ? AND id < ? LIMIT ?)`,
    ),
  );
  const move = database.prepare('UPDATE runs SET number = ? WHERE id = ?');
  let left = LINES_AT_ONCE;
  const found = segments.all(hour);
  for (const { id, run, number } of found) {
    for (const table of removals) {
      left -= Number(table.run(Number(id) * LINES, (Number(id) + 1) * LINES, left).changes);
      if (left <= 0) return false;
    }
    move.run(Number(number) - 1, Number(run));
  }
  return found.length === 0;
}

function deleteRest(database: DatabaseSync, hour: number): void {
  const runs = 'SELECT id FROM runs WHERE hour = ?';
  const run = (text: string, ...values: readonly number[]) => database.prepare(text).run(...values);
  run('DELETE FROM figures WHERE start >= ? AND start < ?', hour, hour + HOUR);
  run(`DELETE FROM missing WHERE run IN (${runs})`, hour);
  run('DELETE FROM faults WHERE hour = ?', hour);
  run('DELETE FROM hours WHERE hour = ?', hour);
  const failing = `SELECT line / ${LINES} FROM failures`;
  run(`DELETE FROM segments WHERE run IN (${runs}) AND id NOT IN (${failing})`, hour);
  // Should it come back, it is read from its beginning.
  run('UPDATE runs SET number = 0 WHERE hour = ?', hour);
  run(
    `DELETE FROM runs WHERE hour <= ? AND number = 0 AND NOT EXISTS (SELECT 1 FROM segments s WHERE s.run = runs.id)
       AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.run = runs.id)`,
    hour,
  );
}

type ContextRow = readonly [name: bigint, hash: bigint, written: bigint, line: bigint];
const FIRST_ROW: ContextRow = [0n, 0n, 0n, 0n];

/** Deletes the contexts of lines before an instant: their order is that of the hashes, so that it takes a pass over all. */
function createContextSweep(database: DatabaseSync) {
  const PLACE = 'name, hash, written, line';
  const end = database.prepare(
    `SELECT ${PLACE} FROM contexts WHERE (${PLACE}) > (?, ?, ?, ?) ORDER BY ${PLACE} LIMIT 1 OFFSET ?`,
  );
  end.setReadBigInts(true);
  const behind = `DELETE FROM contexts WHERE (${PLACE}) > (?, ?, ?, ?)`;
  const removeUpTo = database.prepare(`${behind} AND (${PLACE}) <= (?, ?, ?, ?) AND written < ?`);
  const removeAll = database.prepare(`${behind} AND written < ?`);
  let sweep: { readonly before: number; after: ContextRow } | null = null;
  return {
    begin(before: number): void {
      sweep = { before, after: FIRST_ROW };
    },
    step(): boolean {
      if (sweep === null) return false;
      const { after, before } = sweep;
      const next = end.get(...after, CONTEXTS_AT_ONCE);
      if (next === undefined) {
        removeAll.run(...after, before);
        sweep = null;
        return false;
      }
      const last = [next.name, next.hash, next.written, next.line] as unknown as ContextRow;
      removeUpTo.run(...after, ...last, before);
      sweep.after = last;
      return true;
    },
  };
}

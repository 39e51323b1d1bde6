import type { DatabaseSync } from 'node:sqlite';
import { HOUR } from '../../ledger/hours.js';
import { inTransaction } from '../in-transaction.js';
import { LINES, WIDTHS } from '../schema.js';
import { oldestHour } from './trim-index.js';

/** Lines deleted per step. */
const LINES_AT_ONCE = 10_000;
/** Context values checked per step. */
const VALUES_AT_ONCE = 10_000;

/**
 * Deletes all hours before one with their positions, in steps that do not block questions and keep the write-ahead log small. Open failures
 * stay, with the places of their lines, as long as the service keeps results. Positions are deleted last: if the process ends meanwhile,
 * they show what is left to delete.
 */
export function* deleteHoursBefore(database: DatabaseSync, before: number): Generator<void> {
  yield* deleteContextsBefore(database, before);
  database.prepare('DELETE FROM faults WHERE hour < ?').run(before);
  for (let hour = oldestHour(database); hour !== null && hour < before; hour = oldestHour(database)) {
    const oldest = hour;
    inTransaction(database, () => {
      if (deleteLines(database, oldest)) deleteRest(database, oldest);
    });
    yield;
  }
}

/** Deletes some rows of an hour's lines. Returns whether none is left. */
function deleteLines(database: DatabaseSync, hour: number): boolean {
  const counts = ['lines', 'attempts', 'bodies', 'body_acts'].map((table) => {
    const some = database.prepare(
      `DELETE FROM ${table} WHERE id IN (SELECT t.id FROM runs r CROSS JOIN segments s ON s.run = r.id
         CROSS JOIN ${table} t ON t.id >= s.id * ${LINES} AND t.id < (s.id + 1) * ${LINES} WHERE r.hour = ? LIMIT ${LINES_AT_ONCE})`,
    );
    return Number(some.run(hour).changes);
  });
  return counts.every((count) => count < LINES_AT_ONCE);
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

/** Contexts are ordered by value and not by time, so this is a pass over all of them. */
function* deleteContextsBefore(database: DatabaseSync, written: number): Generator<void> {
  const page = 'FROM context_values WHERE (name, value) > (?, ?) ORDER BY name, value LIMIT';
  const endOfPage = database.prepare(`SELECT name, value ${page} 1 OFFSET ${VALUES_AT_ONCE - 1}`);
  const findOld = database.prepare(
    `SELECT name, value, id FROM (SELECT name, value, id ${page} ${VALUES_AT_ONCE}) v
     WHERE EXISTS (SELECT 1 FROM contexts c WHERE c.value = v.id AND c.written < ?)`,
  );
  const remove = database.prepare('DELETE FROM contexts WHERE value = ? AND written < ?');
  const drop = database.prepare(
    `DELETE FROM context_values WHERE name = ? AND value = ?
     AND NOT EXISTS (SELECT 1 FROM contexts c WHERE c.value = context_values.id)`,
  );
  for (let from: [string, string] | null = ['', '']; from !== null; ) {
    const end: Readonly<Record<string, unknown>> | undefined = endOfPage.get(...from);
    const values = findOld.all(...from, written);
    while (values.length > 0) {
      inTransaction(database, () => {
        for (let deleted = 0; deleted < LINES_AT_ONCE; ) {
          const each = values.pop();
          if (each === undefined) break;
          deleted += 1 + Number(remove.run(Number(each.id), written).changes);
          drop.run(String(each.name), String(each.value));
        }
      });
      yield;
    }
    yield;
    from = end === undefined ? null : [String(end.name), String(end.value)];
  }
}

import type { DatabaseSync } from 'node:sqlite';
import type { LedgerLine } from '../../domain/delivery.js';
import type { LineFigures } from './figure-sums.js';

/** A line with a context. */
interface ContextLine extends LineFigures {
  readonly id: number;
  readonly written: number;
  /** Id of its class. */
  readonly lineClass: number;
}

/** Adds the values of the context of a line. */
export function createContextRows(database: DatabaseSync) {
  const find = database.prepare('SELECT id FROM context_values WHERE name = ? AND value = ?');
  const nextId = database.prepare(
    `INSERT INTO meta VALUES ('lastValue', 1) ON CONFLICT DO UPDATE SET value = value + 1 RETURNING value AS id`,
  );
  const insertValue = database.prepare('INSERT INTO context_values VALUES (?, ?, ?)');
  const insert = database.prepare('INSERT INTO contexts VALUES (?, ?, ?, ?, ?, ?, ?)');

  function idOf(name: string, value: string): number {
    const known = find.get(name, value);
    if (known !== undefined) return Number(known.id);
    const id = Number(nextId.get()?.id);
    insertValue.run(name, value, id);
    return id;
  }

  return {
    add({ id, written, lineClass, bucket, bytes, took }: ContextLine, line: LedgerLine): void {
      for (const [name, value] of valuesOf(line))
        insert.run(idOf(name, value), written, id, lineClass, bucket, bytes, took);
    },
  };
}

/** Values by name, empty for one that was left out. The fields come from the store and may hold anything. */
function valuesOf({ context, contextOmitted }: LedgerLine): Map<string, string> {
  const omitted = entriesOf(contextOmitted).map(([name]) => [name, ''] as const);
  const values = entriesOf(context).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  return new Map([...omitted, ...values]);
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

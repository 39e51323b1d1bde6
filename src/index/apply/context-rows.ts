import type { DatabaseSync } from 'node:sqlite';

/** The values of the contexts of lines. Those of a transaction are written in the order of their hashes, so that a page is written once. */
export interface ContextRows {
  add(hash: bigint, written: number, line: number): void;
  save(): void;
  clear(): void;
}

export function createContextRows(database: DatabaseSync): ContextRows {
  const insert = database.prepare('INSERT OR IGNORE INTO contexts VALUES (?, ?, ?)');
  let rows: (readonly [hash: bigint, written: number, line: number])[] = [];
  return {
    add: (hash, written, line) => void rows.push([hash, written, line]),
    save() {
      for (const row of rows.sort(([a], [b]) => (a < b ? -1 : Number(a > b)))) insert.run(...row);
      rows = [];
    },
    clear() {
      rows = [];
    },
  };
}

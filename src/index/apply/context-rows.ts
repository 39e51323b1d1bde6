import type { DatabaseSync } from 'node:sqlite';
import type { ContextKey } from '../context-keys.js';

/** The values of the contexts of lines. Those of a transaction are written in the order of their hashes, so that a page is written once. */
export interface ContextRows {
  add(key: ContextKey, written: number, line: number): void;
  save(): void;
  clear(): void;
}

type Row = readonly [...ContextKey, written: number, line: number];

export function createContextRows(database: DatabaseSync): ContextRows {
  const insert = database.prepare('INSERT OR IGNORE INTO contexts VALUES (?, ?, ?, ?)');
  let rows: Row[] = [];
  const clear = () => {
    rows = [];
  };
  return {
    add: (key, written, line) => void rows.push([...key, written, line]),
    save() {
      for (const row of rows.sort(compare)) insert.run(...row);
      clear();
    },
    clear,
  };
}

function compare([name, hash]: Row, [otherName, otherHash]: Row): number {
  return name - otherName || (hash < otherHash ? -1 : Number(hash > otherHash));
}

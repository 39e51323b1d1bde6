import type { DatabaseSync } from 'node:sqlite';
import type { ContextKey } from '../context-keys.js';

/** The values of the contexts of lines. Those of a transaction are written in the order of their hashes, so that a page is written once. */
export interface ContextRows {
  add(key: ContextKey, written: number, line: number): void;
  save(): void;
  clear(): void;
}

type Row = readonly [name: number, hash: bigint, written: number, line: number];

export function createContextRows(database: DatabaseSync): ContextRows {
  const insert = database.prepare('INSERT OR IGNORE INTO contexts VALUES (?, ?, ?, ?)');
  const insertName = database.prepare('INSERT OR IGNORE INTO context_names (name) VALUES (?)');
  const findName = database.prepare('SELECT id FROM context_names WHERE name = ?');
  const names = new Map<string, number>();
  let rows: Row[] = [];

  function idOf(name: string): number {
    const known = names.get(name);
    if (known !== undefined) return known;
    insertName.run(name);
    const id = Number(findName.get(name)?.id);
    names.set(name, id);
    return id;
  }

  return {
    add: ({ name, hash }, written, line) => void rows.push([idOf(name), hash, written, line]),
    save() {
      for (const row of rows.sort(compare)) insert.run(...row);
      rows = [];
    },
    clear() {
      rows = [];
      names.clear();
    },
  };
}

function compare([name, hash]: Row, [otherName, otherHash]: Row): number {
  return name - otherName || (hash < otherHash ? -1 : Number(hash > otherHash));
}

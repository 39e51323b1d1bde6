import type { DatabaseSync } from 'node:sqlite';
import { HOUR, hourAt } from '../ledger/hours.js';
import { segmentKey } from '../ledger/segment-key.js';
import { inTransaction } from './in-transaction.js';
import type { MissingSegments } from './index-extent.js';

interface MissingInState extends MissingSegments {
  /** How many of the lines that cannot be read a newer version wrote. */
  readonly newer: number;
}

/** What the index has: every line written from `since` to `until`, but for those of the missing segments. */
export interface IndexState {
  /** Milliseconds since the epoch; null: the beginning of the ledger. */
  readonly since: number | null;
  /** When the last complete listing began; null before the first. */
  readonly until: number | null;
  /** The first hundred, newest first. */
  readonly missing: readonly MissingInState[];
}

const MAX_MISSING = 100;

/** How far the log was read, beside the positions. */
export interface IndexRange {
  readonly since: number | null;
  readonly until: number | null;
}

export function readState(database: DatabaseSync): IndexState {
  const read = database.prepare('SELECT value FROM meta WHERE name = ?');
  const time = (name: string) => {
    const value = read.get(name)?.value ?? null;
    return value === null ? null : Number(value);
  };
  const missing = database.prepare(`
    SELECT r.hour, r.writer, m.first, m.last, m.lines, m.newer FROM missing m JOIN runs r ON r.id = m.run
    ORDER BY r.hour DESC, r.writer, m.first LIMIT ${MAX_MISSING}`);
  return {
    since: time('since'),
    until: time('until'),
    missing: missing.all().map(({ hour, writer, first, last, lines, newer }) => ({
      key: segmentKey({ hour: hourAt(Number(hour)), writer: String(writer), number: Number(first) }),
      segments: Number(last) - Number(first) + 1,
      unreadable: Number(lines) === 0 ? null : Number(lines),
      newer: Number(newer),
    })),
  };
}

/** Lines in the index. */
export function countLines(database: DatabaseSync): number {
  const sum = database.prepare('SELECT sum(lines) AS lines FROM figures WHERE width = ?').get(HOUR);
  return Number(sum?.lines ?? 0);
}

export function saveRange(database: DatabaseSync, { since, until }: IndexRange): void {
  const save = database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)');
  inTransaction(database, () => {
    save.run('since', since);
    save.run('until', until);
  });
}

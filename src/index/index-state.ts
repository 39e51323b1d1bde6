import type { DatabaseSync } from 'node:sqlite';
import { HOUR, hourAt } from '../ledger/hours.js';
import { segmentKey } from '../ledger/segment-key.js';
import { inTransaction } from './in-transaction.js';
import type { MissingSegments } from './index-extent.js';
import type { ReadableIndex } from './readable-index.js';

/** State of the index: it has every line written from `since` to `until`, except those of missing segments. */
export interface IndexState {
  /** Milliseconds since the epoch; null: the beginning of the ledger. */
  readonly since: number | null;
  /** When the last complete listing began; null before the first. */
  readonly until: number | null;
  /** When whole hours were last listed again; null before the first time. */
  readonly relistedAt: number | null;
  /** When missing segments were last read again, or first noticed; null before. */
  readonly retriedAt: number | null;
  /** The first hundred, newest first. */
  readonly missing: readonly MissingSegments[];
}

const MAX_MISSING = 100;

/** Range of the log that was read. */
export type IndexRange = Pick<IndexState, 'since' | 'until'>;

export function readState(index: ReadableIndex): IndexState {
  const { database } = index;
  const read = database.prepare('SELECT value FROM meta WHERE name = ?');
  const time = (name: string) => {
    const value = read.get(name)?.value ?? null;
    return value === null ? null : Number(value);
  };
  return {
    since: time('since'),
    until: time('until'),
    relistedAt: time('relistedAt'),
    retriedAt: time('retriedAt'),
    missing: readMissing(index, MAX_MISSING),
  };
}

/** Missing segments, newest first. @param limit default: all */
export function readMissing({ database }: ReadableIndex, limit = -1): MissingSegments[] {
  const missing = database.prepare(`
    SELECT r.hour, NULL AS key, r.writer, m.first, m.last - m.first + 1 AS segments, m.lines
      FROM missing m JOIN runs r ON r.id = m.run
    UNION ALL SELECT hour, key, '', 0, segments, 0 FROM faults
    ORDER BY 1 DESC, 2, 3, 4 LIMIT ?`);
  return missing.all(limit).map(({ hour, key, writer, first, segments, lines }) => ({
    key:
      key === null
        ? segmentKey({ hour: hourAt(Number(hour)), writer: String(writer), number: Number(first) })
        : String(key),
    segments: Number(segments),
    unreadable: Number(lines) === 0 ? null : Number(lines),
  }));
}

/** Number of lines in the index. */
export function countLines({ database }: ReadableIndex): number {
  const sum = database.prepare('SELECT sum(lines) AS lines FROM figures WHERE width = ?').get(HOUR);
  return Number(sum?.lines ?? 0);
}

/** Saves some of the times; the others stay unchanged. */
export function saveRange(
  database: DatabaseSync,
  times: Partial<Pick<IndexState, 'since' | 'until' | 'relistedAt' | 'retriedAt'>>,
): void {
  inTransaction(database, () => {
    for (const [name, time] of Object.entries(times))
      database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(name, time);
  });
}

import type { DatabaseSync } from 'node:sqlite';
import { HOUR, hourAt } from '../ledger/hours.js';
import { segmentKey } from '../ledger/segment-key.js';
import type { AskedIndex } from './asked-index.js';
import { inTransaction } from './in-transaction.js';
import type { MissingSegments } from './index-extent.js';

/** What the index has: every line written from `since` to `until`, but for those of the missing segments. */
export interface IndexState {
  /** Milliseconds since the epoch; null: the beginning of the ledger. */
  readonly since: number | null;
  /** When the last complete listing began; null before the first. */
  readonly until: number | null;
  /** When finished hours were listed again last; null before. */
  readonly relistedAt: number | null;
  /** When what was missing was read again last, or was noticed first; null before. */
  readonly retriedAt: number | null;
  /** The first hundred, newest first. */
  readonly missing: readonly MissingSegments[];
}

const MAX_MISSING = 100;

/** Range of the log that was read, beside the positions. */
export type IndexRange = Pick<IndexState, 'since' | 'until'>;

export function readState(index: AskedIndex): IndexState {
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

/** What the index lacks, newest first. @param limit default: all */
export function readMissing({ database }: AskedIndex, limit = -1): MissingSegments[] {
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

/** Lines in the index. */
export function countLines({ database }: AskedIndex): number {
  const sum = database.prepare('SELECT sum(lines) AS lines FROM figures WHERE width = ?').get(HOUR);
  return Number(sum?.lines ?? 0);
}

/** Times that are left out stay. */
export function saveRange(
  database: DatabaseSync,
  times: Partial<Pick<IndexState, 'since' | 'until' | 'relistedAt' | 'retriedAt'>>,
): void {
  inTransaction(database, () => {
    for (const [name, time] of Object.entries(times))
      database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(name, time);
  });
}

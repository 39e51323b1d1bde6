import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { contextHash } from '../context-keys.js';
import { idsOf, type LineClass, type LineClasses } from '../line-classes.js';
import { BY_CONTEXT, HAS_CONTEXT, NAME_ID } from './find-lines.js';
import type { TimeRange } from './line-figures.js';

/** A name of the context with a value; null: it was left out. */
export interface ContextValue {
  readonly name: string;
  readonly value: string | null;
}

/** A place in the order of the values of a name. */
export type ContextPlace = readonly [hash: bigint, written: bigint, line: bigint];

/** A line; hash: that of its value. */
export type ContextRow = Readonly<Record<'hash' | 'id' | 'written' | 'bytes' | 'took', SQLOutputValue>>;

export interface ContextsQuery {
  readonly wanted: readonly LineClass[];
  readonly range: TimeRange;
  /** Only lines with this value. */
  readonly context: ContextValue | undefined;
  /** Lines with any value of this name. Null: those with the value of `context`. */
  readonly byName: string | null;
  readonly after: ContextPlace | null;
  /** Rows of contexts that a call reads. Default: as many as it comes to in 30 ms, so that other questions wait no longer. */
  readonly atOnce?: number | undefined;
}

/** Milliseconds after which a call ends. */
const PIECE = 30;
/** Rows between two looks at the clock: these take a few milliseconds. */
const ROWS_AT_ONCE = 500;
const FIRST: ContextPlace = [-(2n ** 63n), 0n, 0n];
const LAST: ContextPlace = [2n ** 63n - 1n, 2n ** 63n - 1n, 2n ** 63n - 1n];
const ORDER = 'c.hash, c.written, c.line';

/**
 * Reads lines that have a value of the context, or any value of a name, in the order of the values: a part of them in each call.
 *
 * @returns where to go on; null at the end
 */
export function readContextLines(
  database: DatabaseSync,
  classes: LineClasses,
  { wanted, range, context, byName, after, atOnce }: ContextsQuery,
  add: (lineClass: LineClass, row: ContextRow) => void,
): ContextPlace | null {
  const name = byName ?? context?.name ?? '';
  const isOfValue = byName === null && context !== undefined;
  const own = [
    `c.name = ${NAME_ID}`,
    ...(isOfValue ? ['c.hash = ?', 'c.written >= ?', 'c.written < ?'] : []),
  ];
  const values = isOfValue ? [name, contextHash(name, context.value), range.since, range.until] : [name];
  const end = database.prepare(
    `SELECT ${ORDER} FROM contexts c WHERE ${own.join(' AND ')} AND (${ORDER}) > (?, ?, ?) ORDER BY ${ORDER} LIMIT 1 OFFSET ?`,
  );
  end.setReadBigInts(true);
  const isFiltered = context !== undefined && !isOfValue;
  const rows = database.prepare(
    `SELECT CAST(c.hash AS TEXT) AS hash, l.id, l.class, l.written, l.bytes, l.took FROM ${BY_CONTEXT}
     WHERE ${own.join(' AND ')} AND (${ORDER}) > (?, ?, ?) AND (${ORDER}) <= (?, ?, ?)
     AND c.written >= ? AND c.written < ? AND l.class IN (${idsOf(wanted)})
     ${isFiltered ? `AND ${HAS_CONTEXT}` : ''} ORDER BY ${ORDER}`,
  );
  const filter = isFiltered ? [context.name, contextHash(context.name, context.value)] : [];
  const begun = performance.now();
  for (let from = after ?? FIRST; ; ) {
    const last = end.get(...values, ...from, (atOnce ?? ROWS_AT_ONCE) - 1);
    const next =
      last === undefined ? null : ([last.hash, last.written, last.line] as unknown as ContextPlace);
    const found = rows.iterate(...values, ...from, ...(next ?? LAST), range.since, range.until, ...filter);
    for (const row of found) add(classes.byId(Number(row.class)), row as ContextRow);
    if (next === null || atOnce !== undefined || performance.now() - begun >= PIECE) return next;
    from = next;
  }
}

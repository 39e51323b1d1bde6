import type { DatabaseSync } from 'node:sqlite';
import { contextHash } from '../context-keys.js';
import { idsOf, type LineClass, type LineClasses } from '../line-classes.js';
import { BY_CONTEXT, HAS_CONTEXT, NAME_ID } from './find-lines.js';
import { addLine, type GroupOf, type TimeRange } from './line-figures.js';
import { type FigureGroups, figuresIn } from './period-figures.js';

/** A name of the context with a value; null: it was left out. */
export interface ContextValue {
  readonly name: string;
  readonly value: string | null;
}

/** A place in the order of the values of a name. */
export type ContextCursor = readonly [hash: bigint, written: bigint, line: bigint];

export interface ContextsQuery {
  readonly wanted: readonly LineClass[];
  readonly range: TimeRange;
  /** Only lines with this value. */
  readonly context: ContextValue | undefined;
  /** A name by whose values lines are grouped; else `groupOf` says the group. */
  readonly byName: string | null;
  readonly groupOf: (lineClass: LineClass, written: number) => ReturnType<GroupOf>;
  readonly after: ContextCursor | null;
  /** Rows of contexts that a call comes to. */
  readonly atOnce?: number | undefined;
}

export interface SummedContexts {
  readonly groups: FigureGroups;
  /** The id of a line of each group. */
  readonly samples: ReadonlyMap<string, number>;
  /** Where to go on; null at the end. */
  readonly next: ContextCursor | null;
}

/** These hold the worker for about a tenth of a second. */
const ROWS_AT_ONCE = 50_000;
const FIRST: ContextCursor = [-(2n ** 63n), 0n, 0n];
const ORDER = 'c.hash, c.written, c.line';

/** Adds up lines that have a value of the context, or some value of a name, in the order of the values: a part of them in each call. */
export function sumContexts(
  database: DatabaseSync,
  classes: LineClasses,
  { wanted, range, context, byName, groupOf, after, atOnce = ROWS_AT_ONCE }: ContextsQuery,
): SummedContexts {
  const name = byName ?? context?.name ?? '';
  const isOfValue = byName === null && context !== undefined;
  const own = [
    `c.name = ${NAME_ID}`,
    ...(isOfValue ? ['c.hash = ?', 'c.written >= ?', 'c.written < ?'] : []),
  ];
  const values = isOfValue ? [name, contextHash(name, context.value), range.since, range.until] : [name];
  const from = after ?? FIRST;
  const end = database.prepare(
    `SELECT ${ORDER} FROM contexts c WHERE ${own.join(' AND ')} AND (${ORDER}) > (?, ?, ?) ORDER BY ${ORDER} LIMIT 1 OFFSET ?`,
  );
  end.setReadBigInts(true);
  const last = end.get(...values, ...from, atOnce - 1);
  const next = last === undefined ? null : ([last.hash, last.written, last.line] as unknown as ContextCursor);
  const conditions = [
    ...own,
    `(${ORDER}) > (?, ?, ?)`,
    ...(next === null ? [] : [`(${ORDER}) <= (?, ?, ?)`]),
  ];
  const isFiltered = context !== undefined && !isOfValue;
  const rows = database.prepare(
    `SELECT CAST(c.hash AS TEXT) AS hash, l.id, l.class, l.written, l.bytes, l.took FROM ${BY_CONTEXT}
     WHERE ${conditions.join(' AND ')} AND c.written >= ? AND c.written < ? AND l.class IN (${idsOf(wanted)})
     ${isFiltered ? `AND ${HAS_CONTEXT}` : ''} ORDER BY ${ORDER}`,
  );
  const filter = isFiltered ? [context.name, contextHash(context.name, context.value)] : [];
  const groups: FigureGroups = new Map();
  const samples = new Map<string, number>();
  for (const row of rows.iterate(...values, ...from, ...(next ?? []), range.since, range.until, ...filter)) {
    const lineClass = classes.byId(Number(row.class));
    const group = byName === null ? groupOf(lineClass, Number(row.written)) : String(row.hash);
    addLine(figuresIn(groups, group), lineClass, row);
    samples.set(group, Number(row.id));
  }
  return { groups, samples, next };
}

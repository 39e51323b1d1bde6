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
  /** Rows of contexts that a call reads. Default: as many as it comes to in 30 ms, so that other questions wait no longer. */
  readonly atOnce?: number | undefined;
}

export interface SummedContexts {
  readonly groups: FigureGroups;
  /** The id of a line of each group. */
  readonly samples: ReadonlyMap<string, number>;
  /** Where to go on; null at the end. */
  readonly next: ContextCursor | null;
}

/** Milliseconds after which a call ends. */
const PIECE = 30;
/** Rows between two looks at the clock: these take a few milliseconds. */
const ROWS_AT_ONCE = 500;
const FIRST: ContextCursor = [-(2n ** 63n), 0n, 0n];
const LAST: ContextCursor = [2n ** 63n - 1n, 2n ** 63n - 1n, 2n ** 63n - 1n];
const ORDER = 'c.hash, c.written, c.line';

/** Adds up lines that have a value of the context, or some value of a name, in the order of the values: a part of them in each call. */
export function sumContexts(
  database: DatabaseSync,
  classes: LineClasses,
  { wanted, range, context, byName, groupOf, after, atOnce }: ContextsQuery,
): SummedContexts {
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
  const groups: FigureGroups = new Map();
  const samples = new Map<string, number>();
  const begun = performance.now();
  for (let from = after ?? FIRST; ; ) {
    const last = end.get(...values, ...from, (atOnce ?? ROWS_AT_ONCE) - 1);
    const next =
      last === undefined ? null : ([last.hash, last.written, last.line] as unknown as ContextCursor);
    const found = rows.iterate(...values, ...from, ...(next ?? LAST), range.since, range.until, ...filter);
    for (const row of found) {
      const lineClass = classes.byId(Number(row.class));
      const group = byName === null ? groupOf(lineClass, Number(row.written)) : String(row.hash);
      addLine(figuresIn(groups, group), lineClass, row);
      samples.set(group, Number(row.id));
    }
    if (next === null || atOnce !== undefined || performance.now() - begun >= PIECE)
      return { groups, samples, next };
    from = next;
  }
}

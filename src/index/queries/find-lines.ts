import type { SQLInputValue } from 'node:sqlite';
import { LINE_FILTER_NAMES, type LineFilters } from '../../domain/line-filters.js';
import { isInScope } from '../../domain/rights.js';
import type { LinePlace } from '../../ledger/log/line-place.js';
import type { PlacedLine } from '../../ledger/log/read-lines-at.js';
import type { AskedIndex } from '../asked-index.js';
import { idsOf, type LineClass, type LineClasses } from '../line-classes.js';
import { JOIN_PLACE, PLACE, placeOfRow } from '../line-places.js';
import { LINES } from '../schema.js';

export interface LineQuery extends LineFilters {
  /** Null: only lines of no job. */
  readonly job?: string | null | undefined;
  /** Only lines written from `since` until before `until`, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** A cursor: only lines before this place. */
  readonly before?: LinePlace | undefined;
  readonly limit: number;
  /** Origins that are left out. */
  readonly without?: readonly string[] | undefined;
  /** With a null value: lines where the value of this name was left out. */
  readonly context?: { readonly name: string; readonly value: string | null } | undefined;
  /** Only lines that exist for a client with these sources. Default: all. */
  readonly scope?: ReadonlySet<string> | undefined;
}

/** The places of the matching lines, newest first. */
export function findLines({ database, classes }: AskedIndex, query: LineQuery): PlacedLine[] {
  const { job, context, limit, scope, since = 0, until = Number.POSITIVE_INFINITY } = query;
  // One bound of the time: of two SQLite may use the farther one.
  const end = { written: until, writer: '', number: 0, line: 0 };
  const { written, writer, number, line } =
    query.before !== undefined && query.before.written < until ? query.before : end;
  const wanted = classes.all().filter((each) => matches(each, query));
  const ofWanted = `l.class IN (${idsOf(wanted)})`;
  const jobless = job === null ? ['l.job IS NULL'] : [];
  const visible = scope === undefined ? [] : [existsIn(scope, classes)];
  const bounds = [since, written, written, writer, number, line, limit];
  /** @param time the column by which the index in use is ordered. It alone finds the place in the index. */
  const newest = (columns: string, from: string, where: readonly string[], time = 'l.written') =>
    `SELECT ${columns} FROM ${from} ${JOIN_PLACE}
     WHERE ${[...where, ...jobless, ...visible].join(' AND ')} AND ${time} >= ? AND ${time} <= ?
       AND (${time}, r.writer, s.number, l.id % ${LINES}) < (?, ?, ?, ?) ${newestFirst(time)}`;
  const find = (text: string, ...values: readonly SQLInputValue[]) =>
    database
      .prepare(text)
      .all(...values)
      .map(placeOfRow);
  const key = context === undefined ? [] : contextKey(context);
  if (job !== undefined && job !== null) {
    const ofContext = context === undefined ? [] : [HAS_CONTEXT];
    return find(newest(PLACE, 'lines l', ['l.job = ?', ofWanted, ...ofContext]), job, ...key, ...bounds);
  }
  if (context !== undefined)
    return find(
      newest(PLACE, BY_CONTEXT, ['c.name = ?', 'c.value = ?', ofWanted], 'c.written'),
      ...key,
      ...bounds,
    );
  // The newest of each class: each has its lines in order, however rare they are.
  return find(
    `SELECT ${PLACE} FROM json_each(?) k CROSS JOIN lines l
       ON l.id IN (${newest('l.id', 'lines l', ['l.class = k.value'])}) ${JOIN_PLACE} ${newestFirst('l.written')}`,
    `[${idsOf(wanted)}]`,
    ...bounds,
    limit,
  );
}

function newestFirst(time: string): string {
  return `ORDER BY ${time} DESC, r.writer DESC, s.number DESC, l.id DESC LIMIT ?`;
}

/** Whether the line `l` has a value of the context; it takes the values of `contextKey`. */
export const HAS_CONTEXT = `EXISTS
  (SELECT 1 FROM context_lines h WHERE h.name = ? AND h.value = ? AND h.written = l.written AND h.id = l.id)`;
export const BY_CONTEXT = 'context_lines c CROSS JOIN lines l ON l.id = c.id';

/** How the index has a name of the context and its value, or a name whose value was left out. */
export function contextKey(context: NonNullable<LineQuery['context']>): [name: string, value: string] {
  return [context.name, context.value ?? ''];
}

/** Whether lines of a class match the filters that name its fields; a line without a source may exist for a client because of its job. */
export function matches(each: LineClass, query: LineFilters & Pick<LineQuery, 'without' | 'scope'>): boolean {
  const { without = [], scope = null } = query;
  if (LINE_FILTER_NAMES.some((name) => query[name] !== undefined && query[name] !== each[name])) return false;
  return !without.includes(each.origin) && (each.source === null || isInScope(scope, each.source));
}

/** A line without a source, such as an operator's act, exists for a client whose sources all other lines of its job have. */
function existsIn(scope: ReadonlySet<string>, classes: LineClasses): string {
  const withSource = classes.all().filter(({ source }) => source !== null);
  const inside = withSource.filter(({ source }) => isInScope(scope, source));
  const outside = withSource.filter(({ source }) => !isInScope(scope, source));
  const others = (ids: readonly LineClass[]) =>
    `EXISTS (SELECT 1 FROM lines o WHERE o.job = l.job AND o.class IN (${idsOf(ids)}))`;
  return `(l.class IN (${idsOf(inside)}) OR (${others(inside)} AND NOT ${others(outside)}))`;
}

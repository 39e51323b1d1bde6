import type { SQLInputValue } from 'node:sqlite';
import { LINE_FILTER_NAMES, type LineFilters } from '../../domain/line-filters.js';
import { isInScope } from '../../domain/rights.js';
import type { LinePlace } from '../../ledger/log/line-place.js';
import type { PlacedLine } from '../../ledger/log/read-lines-at.js';
import { idsOf, type LineClass, type LineClasses } from '../line-classes.js';
import { JOIN_PLACE, PLACE, placeOfRow } from '../line-places.js';
import type { ReadableIndex } from '../readable-index.js';
import { LINES } from '../schema.js';

export interface LineQuery extends LineFilters {
  /** Null: only lines without a job. */
  readonly job?: string | null | undefined;
  /** Only lines written from `since` until before `until`, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** A cursor: only lines before this place. */
  readonly before?: LinePlace | undefined;
  readonly limit: number;
  /** Excluded origins. */
  readonly without?: readonly string[] | undefined;
  /** With a null value: lines whose value for this name was left out. */
  readonly context?: { readonly name: string; readonly value: string | null } | undefined;
  /** Only lines that exist for a client with these sources. Default: all. */
  readonly scope?: ReadonlySet<string> | undefined;
}

/** The places of the matching lines, newest first. */
export function findLines({ database, classes }: ReadableIndex, query: LineQuery): PlacedLine[] {
  const { job, context, limit, scope, since = 0, until = Number.POSITIVE_INFINITY } = query;
  // One upper bound of the time: with two SQLite may use the farther one.
  const end = { written: until, writer: '', number: 0, line: 0 };
  const { written, writer, number, line } =
    query.before !== undefined && query.before.written < until ? query.before : end;
  const wanted = classes.all().filter((each) => matches(each, query));
  const ofWanted = `l.class IN (${idsOf(wanted)})`;
  const jobless = job === null ? ['l.job IS NULL'] : [];
  const visible = scope === undefined ? [] : [existsIn(scope, classes)];
  const bounds = [since, written, written, writer, number, line, limit];
  /** @param time the column that the index in use is ordered by; only a condition on it seeks in the index */
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
  // The newest lines of each class, which the index has in order, however rare they are.
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

/** SQL condition: the line `l` has a value of the context. Its parameters are those of `contextKey`. */
export const HAS_CONTEXT = `EXISTS
  (SELECT 1 FROM context_lines h WHERE h.name = ? AND h.value = ? AND h.written = l.written AND h.id = l.id)`;
export const BY_CONTEXT = 'context_lines c CROSS JOIN lines l ON l.id = c.id';

/** Name and value of a context as the index has them; the value is empty when it was left out. */
export function contextKey(context: NonNullable<LineQuery['context']>): [name: string, value: string] {
  return [context.name, context.value ?? ''];
}

/** Whether a class matches the filters of its fields. A line without a source may still exist for a client because of its job. */
export function matches(each: LineClass, query: LineFilters & Pick<LineQuery, 'without' | 'scope'>): boolean {
  const { without = [], scope = null } = query;
  if (LINE_FILTER_NAMES.some((name) => query[name] !== undefined && query[name] !== each[name])) return false;
  return !without.includes(each.origin) && (each.source === null || isInScope(scope, each.source));
}

/** SQL condition: a line without a source, such as an operator's action, exists for a client that may see all sources of its job. */
function existsIn(scope: ReadonlySet<string>, classes: LineClasses): string {
  const withSource = classes.all().filter(({ source }) => source !== null);
  const inside = withSource.filter(({ source }) => isInScope(scope, source));
  const outside = withSource.filter(({ source }) => !isInScope(scope, source));
  const others = (ids: readonly LineClass[]) =>
    `EXISTS (SELECT 1 FROM lines o WHERE o.job = l.job AND o.class IN (${idsOf(ids)}))`;
  return `(l.class IN (${idsOf(inside)}) OR (${others(inside)} AND NOT ${others(outside)}))`;
}

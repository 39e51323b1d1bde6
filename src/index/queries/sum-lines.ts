import type { SQLInputValue } from 'node:sqlite';
import type { NamedFilters } from '../../domain/line-filters.js';
import { isInScope } from '../../domain/rights.js';
import { idsOf, isMissed, type LineClass, type LineClasses, notBroughtBefore } from '../line-classes.js';
import type { ReadableIndex } from '../readable-index.js';
import { WIDTHS } from '../schema.js';
import type { Parts } from './align-period.js';
import { addRow, type Figures, figuresIn, noFigures } from './figures.js';
import { BY_CONTEXT, contextKey, HAS_CONTEXT, type LineQuery, matches } from './find-lines.js';

/** A time in milliseconds since the epoch; `until` is exclusive. */
export interface TimeRange {
  readonly since: number;
  readonly until: number;
}

type ClassFilters = NamedFilters & Pick<LineQuery, 'without' | 'scope'>;

export interface SumQuery extends ClassFilters, Pick<LineQuery, 'context'> {
  readonly range: TimeRange;
}

/** Adds lines of one class in one part of the time: a row as for `addRow`, with the number of the `part`. */
type AddSums = (lineClass: LineClass, row: Readonly<Record<string, unknown>>) => void;

/**
 * Sums the deliveries that match, exactly. With a context it reads a row per line, a million or two a second; otherwise it uses the sums of
 * whole stretches.
 */
export function sumLines(
  { database, classes }: ReadableIndex,
  { range, context, ...filters }: SumQuery,
  parts: Parts,
  add: AddSums,
): void {
  const ofWanted = `class IN (${idsOf(classesOf(classes, filters))})`;
  const sum = (text: string, ...values: readonly SQLInputValue[]) => {
    for (const row of database.prepare(text).iterate(...dividedBy(parts), ...values))
      add(classes.byId(Number(row.class)), row);
  };
  if (context !== undefined)
    return sum(
      `SELECT ${partOf('written')} AS part, class, bucket, ${SUMS} FROM context_lines
       WHERE name = ? AND value = ? AND written >= ? AND written < ? AND ${ofWanted} GROUP BY 1, 2, 3`,
      ...contextKey(context),
      range.since,
      range.until,
    );
  const widths = WIDTHS.filter(
    (width) => parts.count === 1 || (parts.begin % width === 0 && parts.width % width === 0),
  );
  for (const { width, since, until } of stretchesOf(range, widths))
    if (width === null)
      sum(
        `SELECT ${partOf('written')} AS part, class, 1 AS lines, bytes, took FROM lines
         WHERE ${ofWanted} AND written >= ? AND written < ?`,
        since,
        until,
      );
    else
      sum(
        `SELECT ${partOf('start')} AS part, class, bucket, sum(lines) AS lines, sum(bytes) AS bytes, max(longest) AS took
         FROM figures WHERE width = ? AND start >= ? AND start < ? AND ${ofWanted} GROUP BY 1, 2, 3`,
        width,
        since,
        until,
      );
}

/** Columns of a group of lines. */
const SUMS = 'count(*) AS lines, sum(bytes) AS bytes, max(took) AS took';

/** Divides a time into whole stretches, the widest possible, and the rests at both ends, which are read line by line. */
function stretchesOf(
  { since, until }: TimeRange,
  [width, ...shorter]: readonly number[],
): (TimeRange & { readonly width: number | null })[] {
  if (since >= until) return [];
  if (width === undefined) return [{ width: null, since, until }];
  const begin = Math.ceil(since / width) * width;
  const end = Math.floor(until / width) * width;
  if (begin >= end) return stretchesOf({ since, until }, shorter);
  return [
    ...stretchesOf({ since, until: begin }, shorter),
    { width, since: begin, until: end },
    ...stretchesOf({ since: end, until }, shorter),
  ];
}

/** SQL for the number of the part that a time is in. Its parameters are those of `dividedBy`. */
export function partOf(column: string): string {
  return `max(0, min(CAST((${column} - ?) / ? AS INTEGER), ?))`;
}

export function dividedBy({
  begin,
  width,
  count,
}: Parts): readonly [begin: number, width: number, last: number] {
  return [begin, width, count - 1];
}

/** Figures of context values, and the sum of those beyond the limit. */
export interface ContextSums {
  readonly values: Map<string, Figures>;
  readonly others: Figures;
  /** Number of values beyond the limit. */
  readonly left: number;
}

/** Figures of the values of a context name that have the most lines. A value that was left out of a callback is empty. */
export function sumByContext(
  { database, classes }: ReadableIndex,
  { range, context, ...filters }: SumQuery,
  name: string,
  keep: number,
): ContextSums {
  const rows = database.prepare(
    `WITH sums AS MATERIALIZED (SELECT value, class, bucket, ${SUMS} FROM context_lines l
       WHERE name = ? AND written >= ? AND written < ? AND class IN (${idsOf(classesOf(classes, filters))})
       ${context === undefined ? '' : `AND ${HAS_CONTEXT}`} GROUP BY 1, 2, 3),
     largest AS (SELECT value FROM sums GROUP BY value ORDER BY sum(lines) DESC, value LIMIT ?)
     SELECT k.value, class, bucket, sum(lines) AS lines, sum(bytes) AS bytes, max(took) AS took,
       (SELECT count(DISTINCT value) FROM sums) AS found
     FROM sums LEFT JOIN largest k ON k.value = sums.value GROUP BY 1, 2, 3`,
  );
  const filter = context === undefined ? [] : contextKey(context);
  const values = new Map<string, Figures>();
  const others = noFigures();
  let found = 0;
  for (const row of rows.iterate(name, range.since, range.until, ...filter, keep)) {
    const figures = row.value === null ? others : figuresIn(values, String(row.value));
    addRow(figures, classes.byId(Number(row.class)), row);
    found = Number(row.found);
  }
  return { values, others, left: found - values.size };
}

function classesOf(classes: LineClasses, query: ClassFilters): LineClass[] {
  return classes.all().filter((each) => matches(each, query) && isInScope(query.scope ?? null, each.source));
}

/** Jobs of a group whose callback did not come. */
interface MissedJobs<Name> {
  readonly name: Name;
  readonly jobs: number;
}

/**
 * Counts jobs whose callback was expected in a time and missed.
 *
 * @param group SQL over their lines `l` and classes `k`; its parameters follow
 */
export function countMissed(
  index: ReadableIndex,
  query: SumQuery,
  group: string,
  ...given: readonly SQLInputValue[]
): MissedJobs<string | null>[] {
  const { where, values } = missedLines(index, query);
  const rows = index.database.prepare(
    `SELECT ${group} AS name, count(DISTINCT l.job) AS jobs FROM lines l CROSS JOIN classes k ON k.id = l.class
     WHERE ${where} GROUP BY 1 HAVING jobs > 0`,
  );
  return rows
    .all(...given, ...values)
    .map(({ name, jobs }) => ({ name: name === null ? null : String(name), jobs: Number(jobs) }));
}

/** The same by the value of a context name; `jobs` counts those with any value. */
export function missedByContext(index: ReadableIndex, query: SumQuery, name: string) {
  const { where, values } = missedLines(index, query);
  const from = `FROM ${BY_CONTEXT} WHERE c.name = ? AND c.id IN (SELECT l.id FROM lines l WHERE ${where})`;
  const jobs = 'count(DISTINCT l.job) AS jobs';
  const rows = index.database.prepare(`SELECT c.value, ${jobs} ${from} GROUP BY 1 HAVING jobs > 0`);
  const all = index.database.prepare(`SELECT ${jobs} ${from}`).get(name, ...values);
  const ofValues = rows
    .all(name, ...values)
    .map((row): MissedJobs<string> => ({ name: String(row.value), jobs: Number(row.jobs) }));
  return { ofValues, jobs: Number(all?.jobs) };
}

/** SQL condition for lines `l`. The plus makes SQLite search by time: by class it would read all that were ever missed. */
function missedLines({ classes }: ReadableIndex, { range, context, ...filters }: SumQuery) {
  const missed = classesOf(classes, filters).filter(isMissed);
  const where = `l.due >= ? AND l.due < ? AND +l.class IN (${idsOf(missed)}) AND ${notBroughtBefore(classes)}
    ${context === undefined ? '' : `AND ${HAS_CONTEXT}`}`;
  return { where, values: [range.since, range.until, ...(context === undefined ? [] : contextKey(context))] };
}

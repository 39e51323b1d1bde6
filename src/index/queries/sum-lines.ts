import type { SQLInputValue } from 'node:sqlite';
import { isOperatorAct } from '../../domain/delivery.js';
import type { NamedFilters } from '../../domain/line-filters.js';
import { isInScope } from '../../domain/rights.js';
import {
  causeOfDelivery,
  contextOfGroup,
  type FieldGroup,
  MISSED_CAUSE,
  nameOfGroup,
  type SummaryGroup,
} from '../../domain/summary-groups.js';
import type { AskedIndex } from '../asked-index.js';
import { idsOf, isMissed, type LineClass, type LineClasses, notBroughtBefore } from '../line-classes.js';
import { WIDTHS } from '../schema.js';
import { type Parts, WHOLE } from './align-period.js';
import { addRow, type FigureGroups, type Figures, figuresIn, noFigures } from './figures.js';
import { BY_CONTEXT, contextKey, HAS_CONTEXT, type LineQuery, matches } from './find-lines.js';

/** A time in milliseconds since the epoch; `until` is exclusive. */
export interface TimeRange {
  readonly since: number;
  readonly until: number;
}

/** A name of the context with a value; null: it was left out. */
interface ContextValue {
  readonly name: string;
  readonly value: string | null;
}

type ClassFilters = NamedFilters & Pick<LineQuery, 'without' | 'scope'>;

export interface SumQuery extends ClassFilters {
  readonly range: TimeRange;
  readonly context?: ContextValue | undefined;
  /** Parts of the time; else a group; null: one group of all. */
  readonly by: Parts | Exclude<SummaryGroup, 'hour' | 'day'> | null;
  /** Groups by a context that an answer has at most, those with the most lines. */
  readonly keep: number;
}

/** Figures by the name of the group: the number of a part, or `nameOfGroup`, of a value of the context that was left out with an empty one. */
export interface LineSums {
  readonly groups: FigureGroups;
  /** Groups that are left out, and their sum. */
  readonly rest: { readonly groups: number; readonly figures: Figures };
}

/**
 * Adds up the deliveries that match, exactly. With a context it reads a row of each line, a million or two a second; else what is whole
 * stretches from their sums.
 */
export function sumLines(index: AskedIndex, query: SumQuery): LineSums {
  const { by } = query;
  const wanted = classesOf(index.classes, query);
  const byName = typeof by === 'string' ? contextOfGroup(by) : null;
  if (byName !== null) return sumByContext(index, wanted, byName, query);
  return { groups: sumByClass(index, wanted, query), rest: { groups: 0, figures: noFigures() } };
}

/** Lines of what operators did; they are no deliveries. */
export function countActs(
  index: AskedIndex,
  { range, source, scope }: Pick<SumQuery, 'range' | 'source' | 'scope'>,
): number {
  const acts = classesOf(index.classes, { source, scope }).filter(({ origin }) => isOperatorAct(origin));
  return sumByClass(index, acts, { range, by: null }).get('')?.lines ?? 0;
}

function sumByClass(
  { database, classes }: AskedIndex,
  wanted: readonly LineClass[],
  { range, context, by }: Pick<SumQuery, 'range' | 'context' | 'by'>,
): FigureGroups {
  const groups: FigureGroups = new Map();
  const parts = typeof by === 'object' ? by : null;
  const ofWanted = `class IN (${idsOf(wanted)})`;
  const add = (text: string, ...values: readonly SQLInputValue[]) => {
    for (const row of database.prepare(text).iterate(...dividedBy(parts), ...values)) {
      const lineClass = classes.byId(Number(row.class));
      addRow(figuresIn(groups, groupName(by, lineClass, Number(row.part))), lineClass, row);
    }
  };
  if (context !== undefined) {
    add(
      `SELECT ${partOf('written')}, class, bucket, ${SUMS} FROM context_lines
       WHERE name = ? AND value = ? AND written >= ? AND written < ? AND ${ofWanted} GROUP BY 1, 2, 3`,
      ...[...contextKey(context), range.since, range.until],
    );
    return groups;
  }
  const widths = WIDTHS.filter(
    (width) =>
      parts === null || parts.count === 1 || (parts.begin % width === 0 && parts.width % width === 0),
  );
  for (const { width, since, until } of stretchesOf(range, widths))
    if (width === null)
      add(
        `SELECT ${partOf('written')}, class, 1 AS lines, bytes, took FROM lines
         WHERE ${ofWanted} AND written >= ? AND written < ?`,
        ...[since, until],
      );
    else
      add(
        `SELECT ${partOf('start')}, class, bucket, sum(lines) AS lines, sum(bytes) AS bytes, max(longest) AS took
         FROM figures WHERE width = ? AND start >= ? AND start < ? AND ${ofWanted} GROUP BY 1, 2, 3`,
        ...[width, since, until],
      );
  return groups;
}

/** Columns of a group of lines. */
const SUMS = 'count(*) AS lines, sum(bytes) AS bytes, max(took) AS took';

/** Whole stretches of a time, the longest first, and what is left at both ends, which is read line by line. */
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

/** A column with the number of the part that a time is in; it takes the values of `dividedBy`. */
function partOf(column: string): string {
  return `max(0, min(CAST((${column} - ?) / ? AS INTEGER), ?)) AS part`;
}

function dividedBy(parts: Parts | null): readonly [begin: number, width: number, last: number] {
  const { begin, width, count } = parts ?? WHOLE;
  return [begin, width, count - 1];
}

/** The values with the most lines, and the sum of the others. */
function sumByContext(
  { database, classes }: AskedIndex,
  wanted: readonly LineClass[],
  name: string,
  { range, context, keep }: SumQuery,
): LineSums {
  const rows = database.prepare(
    `WITH sums AS MATERIALIZED (SELECT value, class, bucket, ${SUMS} FROM context_lines l
       WHERE name = ? AND written >= ? AND written < ? AND class IN (${idsOf(wanted)})
       ${context === undefined ? '' : `AND ${HAS_CONTEXT}`} GROUP BY 1, 2, 3),
     largest AS (SELECT value FROM sums GROUP BY value ORDER BY sum(lines) DESC, value LIMIT ?)
     SELECT k.value, class, bucket, sum(lines) AS lines, sum(bytes) AS bytes, max(took) AS took,
       (SELECT count(DISTINCT value) FROM sums) AS found
     FROM sums LEFT JOIN largest k ON k.value = sums.value GROUP BY 1, 2, 3`,
  );
  const filter = context === undefined ? [] : contextKey(context);
  const groups: FigureGroups = new Map();
  const others = noFigures();
  let found = 0;
  for (const row of rows.iterate(name, range.since, range.until, ...filter, keep)) {
    const figures = row.value === null ? others : figuresIn(groups, nameOfGroup(String(row.value)));
    addRow(figures, classes.byId(Number(row.class)), row);
    found = Number(row.found);
  }
  return { groups, rest: { groups: found - groups.size, figures: others } };
}

function classesOf(classes: LineClasses, query: ClassFilters): LineClass[] {
  return classes.all().filter((each) => matches(each, query) && isInScope(query.scope ?? null, each.source));
}

function groupName(by: SumQuery['by'], lineClass: LineClass, part: number): string {
  if (by === null) return '';
  if (typeof by === 'object') return String(part);
  if (by === 'cause') return nameOfGroup(causeOfDelivery(lineClass), lineClass.source);
  return nameOfGroup(lineClass[by as FieldGroup]);
}

/** Jobs whose callback was expected in a time and missed, by the name of the group; none by context. */
export function countMissed(
  { database, classes }: AskedIndex,
  query: Omit<SumQuery, 'keep'>,
): [name: string, jobs: number][] {
  const { range, context, by } = query;
  const wanted = classesOf(classes, query).filter(isMissed);
  const parts = typeof by === 'object' ? by : null;
  const groups = new Map<string, LineClass[]>();
  for (const each of wanted) {
    const name = by === 'cause' ? nameOfGroup(MISSED_CAUSE, each.source) : groupName(by, each, 0);
    groups.set(name, [...(groups.get(name) ?? []), each]);
  }
  const values = context === undefined ? [] : contextKey(context);
  // The plus keeps SQLite within the time that is asked for: by class it would read all lines that were ever missed.
  return [...groups].flatMap(([name, own]) => {
    const rows = database.prepare(
      `SELECT ${partOf('l.due')}, count(DISTINCT l.job) AS jobs FROM lines l
       WHERE l.due >= ? AND l.due < ? AND +l.class IN (${idsOf(own)})
       AND ${notBroughtBefore(classes)} ${context === undefined ? '' : `AND ${HAS_CONTEXT}`}
       GROUP BY 1 HAVING jobs > 0`,
    );
    const found = rows.all(...dividedBy(parts), range.since, range.until, ...values);
    return found.map(({ part, jobs }): [string, number] => [
      parts === null ? name : String(part),
      Number(jobs),
    ]);
  });
}

/** The same by the value of the context that `by` names; `jobs`: those with any value. */
export function missedByContext(
  { database, classes }: AskedIndex,
  { range, context, by, ...filters }: Omit<SumQuery, 'keep'>,
): { readonly groups: readonly (readonly [name: string, jobs: number])[]; readonly jobs: number } {
  const wanted = classesOf(classes, filters).filter(isMissed);
  const from = `FROM ${BY_CONTEXT} WHERE c.name = ?
    AND c.id IN (SELECT id FROM lines l WHERE due >= ? AND due < ? AND +class IN (${idsOf(wanted)})
      AND ${notBroughtBefore(classes)})
    ${context === undefined ? '' : `AND ${HAS_CONTEXT}`}`;
  const name = (typeof by === 'string' && contextOfGroup(by)) || '';
  const filter = context === undefined ? [] : contextKey(context);
  const values = [name, range.since, range.until, ...filter];
  const groups = database.prepare(
    `SELECT c.value, count(DISTINCT l.job) AS jobs ${from} GROUP BY c.value HAVING jobs > 0`,
  );
  const all = database.prepare(`SELECT count(DISTINCT l.job) AS jobs ${from}`);
  return {
    groups: groups.all(...values).map(({ value, jobs }) => [nameOfGroup(String(value)), Number(jobs)]),
    jobs: Number(all.get(...values)?.jobs ?? 0),
  };
}

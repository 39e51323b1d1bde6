import type { DatabaseSync } from 'node:sqlite';
import { isOperatorAct } from '../../domain/delivery.js';
import { isInScope } from '../../domain/rights.js';
import {
  causeOfDelivery,
  contextOfGroup,
  MISSED_CAUSE,
  nameOfGroup,
  type SummaryGroup,
} from '../../domain/summary-groups.js';
import { contextHash } from '../context-keys.js';
import { idsOf, isMissed, type LineClass, type LineClasses } from '../line-classes.js';
import { type Parts, partAt, WHOLE } from './align-period.js';
import { HAS_CONTEXT, type LineQuery, matches } from './find-lines.js';
import { createLargestGroups, type RestOfSums, type SummedGroup } from './largest-groups.js';
import { addLine, addLineFigures, type TimeRange } from './line-figures.js';
import { type FigureGroups, figuresIn } from './period-figures.js';
import { type ContextPlace, type ContextValue, readContextLines } from './read-context-lines.js';

type ClassFilters = Pick<
  LineQuery,
  'source' | 'region' | 'status' | 'outcome' | 'origin' | 'without' | 'scope'
>;

export interface SumQuery extends ClassFilters {
  readonly range: TimeRange;
  readonly context?: ContextValue | undefined;
  /** Parts of the time; else a group; null: one group of all. */
  readonly by: Parts | Exclude<SummaryGroup, 'hour' | 'day'> | null;
  /** Groups by a context that an answer has at most, those with the most lines. */
  readonly keep: number;
  /** Where an earlier answer ended. */
  readonly after: SumCursor | null;
  /** Values of the context that a call looks at. Default: as many as it comes to in 30 ms. */
  readonly atOnce?: number | undefined;
}

/** Where an answer ended, and the figures of a group by a context that may go on behind it. No answer has it before it is complete. */
export interface SumCursor {
  readonly place: ContextPlace;
  readonly begun: SummedGroup | null;
}

/** Figures by the name of the group: `partName`, `nameOfGroup`, or the hash of a value of the context. */
export interface LineSums {
  readonly groups: readonly SummedGroup[];
  readonly rest: RestOfSums;
  /** Where to go on; null at the end. */
  readonly next: SumCursor | null;
}

/** Adds up the deliveries that match. */
export function sumLines(database: DatabaseSync, classes: LineClasses, query: SumQuery): LineSums {
  const { range, context, by, keep, after } = query;
  const wanted = classesOf(classes, query);
  const parts = typeof by === 'object' ? by : null;
  const groupOf = (lineClass: LineClass, part: number) => groupName(by, lineClass, part);
  const byName = typeof by === 'string' ? contextOfGroup(by) : null;
  if (byName === null && context === undefined) {
    const groups = addLineFigures(database, classes, { wanted, range, parts, groupOf });
    return { groups: listed(groups), rest: null, next: null };
  }
  const asked = { wanted, range, context, byName, after: after?.place ?? null, atOnce: query.atOnce };
  if (byName === null) {
    const groups: FigureGroups = new Map();
    const place = readContextLines(database, classes, asked, (lineClass, row) => {
      const group = groupOf(lineClass, partAt(parts, Number(row.written)));
      addLine(figuresIn(groups, group), lineClass, row);
    });
    return { groups: listed(groups), rest: null, next: place && { place, begun: null } };
  }
  const largest = createLargestGroups(keep, after?.begun ?? null);
  const place = readContextLines(database, classes, asked, (lineClass, row) =>
    largest.add(String(row.hash), lineClass, row),
  );
  const next = place && { place, begun: largest.takeLast() };
  return { ...largest.result(), next };
}

function classesOf(classes: LineClasses, query: ClassFilters): LineClass[] {
  return classes.all().filter((each) => matches(each, query) && isInScope(query.scope ?? null, each.source));
}

function groupName(by: SumQuery['by'], lineClass: LineClass, part: number): string {
  if (by === null) return '';
  if (typeof by === 'object') return String(part);
  if (by === 'cause') return nameOfGroup(causeOfDelivery(lineClass), lineClass.source);
  return nameOfGroup(lineClass[by as 'source' | 'region' | 'status' | 'outcome']);
}

function listed(groups: FigureGroups): SummedGroup[] {
  return [...groups].map(([name, figures]) => [name, figures.parts(), null]);
}

/** Jobs whose callback was expected in a time and missed, by the name of the group; none by context. */
export function countMissed(
  database: DatabaseSync,
  classes: LineClasses,
  query: Omit<SumQuery, 'keep' | 'after'>,
): [name: string, jobs: number][] {
  const { range, context, by } = query;
  const wanted = classesOf(classes, query).filter(isMissed);
  const parts = typeof by === 'object' ? by : null;
  const { begin, width, count } = parts ?? WHOLE;
  const groups = new Map<string, LineClass[]>();
  for (const each of wanted) {
    const name = by === 'cause' ? nameOfGroup(MISSED_CAUSE, each.source) : groupName(by, each, 0);
    groups.set(name, [...(groups.get(name) ?? []), each]);
  }
  const values = context === undefined ? [] : [context.name, contextHash(context.name, context.value)];
  // The plus keeps SQLite within the time that is asked for: by class it would read all lines that were ever missed.
  return [...groups].flatMap(([name, own]) => {
    const rows = database.prepare(
      `SELECT max(0, min(CAST((l.due - ?) / ? AS INTEGER), ?)) AS part, count(DISTINCT l.job) AS jobs FROM lines l
       WHERE l.due >= ? AND l.due < ? AND +l.class IN (${idsOf(own)}) ${context === undefined ? '' : `AND ${HAS_CONTEXT}`}
       GROUP BY 1`,
    );
    const found = rows.all(begin, width, count - 1, range.since, range.until, ...values);
    return found.map(({ part, jobs }): [string, number] => [
      parts === null ? name : String(part),
      Number(jobs),
    ]);
  });
}

/** Lines of what operators did; they are no deliveries. */
export function countActs(
  database: DatabaseSync,
  classes: LineClasses,
  { range, source, scope }: Pick<SumQuery, 'range' | 'source' | 'scope'>,
): number {
  const wanted = classesOf(classes, { source, scope });
  const acts = wanted.filter(({ origin }) => isOperatorAct(origin));
  const groups = addLineFigures(database, classes, { wanted: acts, range, parts: null, groupOf: () => '' });
  return groups.get('')?.parts().lines ?? 0;
}

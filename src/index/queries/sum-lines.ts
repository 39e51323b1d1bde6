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
import { addLineFigures, type TimeRange } from './line-figures.js';
import { createPeriodFigures, type FigureGroups, type FigureParts } from './period-figures.js';
import { type ContextCursor, type ContextValue, sumContexts } from './sum-contexts.js';

type ClassFilters = Pick<
  LineQuery,
  'source' | 'region' | 'status' | 'outcome' | 'origin' | 'without' | 'scope'
>;

export interface SumQuery extends ClassFilters {
  readonly range: TimeRange;
  readonly context?: ContextValue | undefined;
  /** Parts of the time; else a group; null: one group of all. */
  readonly by: Parts | Exclude<SummaryGroup, 'hour' | 'day'> | null;
  /** Groups by a context that an answer has at most, those with the most lines; the first and the last may go on in the next answer. */
  readonly keep: number;
  /** Where an earlier answer ended. */
  readonly after: ContextCursor | null;
  /** Values of the context that a call looks at. Default: as many as hold the worker for about a tenth of a second. */
  readonly atOnce?: number | undefined;
}

/** Figures by the name of the group: `partName`, `nameOfGroup`, or the hash of a value of the context. */
export interface LineSums {
  readonly groups: readonly (readonly [name: string, parts: FigureParts, sample: number | null])[];
  /** Groups that are left out, and all of their figures. */
  readonly rest: { readonly groups: number; readonly parts: FigureParts } | null;
  /** Where to go on; null at the end. */
  readonly next: ContextCursor | null;
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
  const found = sumContexts(database, classes, {
    ...{ wanted, range, context, byName, after, atOnce: query.atOnce },
    groupOf: (lineClass, written) => groupOf(lineClass, partAt(parts, written)),
  });
  if (byName === null) return { groups: listed(found.groups), rest: null, next: found.next };
  return { ...largest(listed(found.groups, found.samples), keep), next: found.next };
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

function listed(groups: FigureGroups, samples: ReadonlyMap<string, number> = new Map()) {
  return [...groups].map(([name, figures]) => [name, figures.parts(), samples.get(name) ?? null] as const);
}

/** Those with the most lines, besides the first and the last. */
function largest(groups: LineSums['groups'], keep: number): Pick<LineSums, 'groups' | 'rest'> {
  const [first, last] = [groups.slice(0, 1), groups.slice(1).slice(-1)];
  const between = groups.slice(1, -1).sort(([, one], [, other]) => other.lines - one.lines);
  const left = between.slice(keep);
  const rest = createPeriodFigures();
  for (const [, parts] of left) rest.addAll(parts);
  return {
    groups: [...first, ...between.slice(0, keep), ...last],
    rest: left.length === 0 ? null : { groups: left.length, parts: rest.parts() },
  };
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
  return [...groups].flatMap(([name, own]) => {
    const rows = database.prepare(
      `SELECT max(0, min(CAST((l.due - ?) / ? AS INTEGER), ?)) AS part, count(DISTINCT l.job) AS jobs FROM lines l
       WHERE l.due >= ? AND l.due < ? AND l.class IN (${idsOf(own)}) ${context === undefined ? '' : `AND ${HAS_CONTEXT}`}
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

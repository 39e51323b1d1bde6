import { isOperatorAct, LEDGER_ORIGINS } from '../../domain/delivery.js';
import type {
  RestOfGroups,
  SenderRefusals,
  SummaryFigures,
  SummaryRow,
} from '../../domain/summary-figures.js';
import {
  causeOfDelivery,
  contextOfGroup,
  type FieldGroup,
  MISSED_CAUSE,
  type SummaryGroup,
} from '../../domain/summary-groups.js';
import { CLASS_FIELDS } from '../line-classes.js';
import type { ReadableIndex } from '../readable-index.js';
import { type Parts, partAt, WHOLE } from './align-period.js';
import {
  addRow,
  type Figures,
  figuresIn,
  figuresWithout,
  noFigures,
  shownFigures,
  sumOf,
} from './figures.js';
import { type LastAccepted, lastAccepted, lastOf } from './last-accepted.js';
import {
  countMissed,
  dividedBy,
  missedByContext,
  partOf,
  type SumQuery,
  sumByContext,
  sumLines,
} from './sum-lines.js';

export type NamedGroup = Exclude<SummaryGroup, 'hour' | 'day'>;

export interface SummaryQuestion extends SumQuery {
  readonly parts: Parts;
  /** Groups: parts of the time, or a field of the lines; null: no groups. */
  readonly by: Parts | NamedGroup | null;
  /** Maximum number of groups, except for parts of the time. */
  readonly limit: number;
  readonly refusals: readonly SenderRefusals[];
  /** Start of the search for last accepted callbacks, in milliseconds since the epoch. */
  readonly lastSince: number;
}

/** Rows, and the sum of those beyond a limit; null where there are none. */
interface GroupRows {
  readonly groups: readonly SummaryRow[] | null;
  readonly rest: RestOfGroups | null;
}

/** Figures of the deliveries of a time. */
export interface IndexedSummary extends GroupRows {
  readonly total: SummaryFigures;
  /** Figures of each part, those without lines included. */
  readonly buckets: readonly PartFigures[];
  /** Number of operators' actions; null with a filter by context. */
  readonly acts: number | null;
  readonly last: LastAccepted;
}

type PartFigures = SummaryFigures & { readonly start: string };

/** Fields that a delivery, or a refused request that left no line, can be grouped by. */
type Grouped = Readonly<Record<Exclude<FieldGroup, 'outcome'> | 'reason', string | null>> & {
  readonly outcome: string;
};

/** Figures of deliveries, of parts of the time and of groups. */
export function summarise(index: ReadableIndex, question: SummaryQuestion): IndexedSummary {
  const { parts, context, scope = null, lastSince } = question;
  const { ofParts, ofGroups } = sumDeliveries(index, question, parts);
  const total = sumOf(ofParts.values());
  return {
    total: shownFigures(total),
    buckets: partRows(ofParts, parts),
    ...groupRows(index, question, ofGroups, total),
    acts: context === undefined ? countActs(index, question) : null,
    last: lastOf(lastAccepted(index, { since: lastSince, scope }), scope),
  };
}

/** Figures by the number of the part, and by the `nameOf` of the group; groups of the context are not summed here. */
function sumDeliveries(index: ReadableIndex, question: SummaryQuestion, parts: Parts) {
  const { by, refusals } = question;
  const group = typeof by === 'string' && contextOfGroup(by) === null ? (by as FieldGroup | 'cause') : null;
  const ofParts = new Map<number, Figures>();
  const ofGroups = new Map<string, Figures>();
  const figuresOf = (part: number, line: Grouped) => [
    figuresIn(ofParts, part),
    ...(group === null ? [] : [figuresIn(ofGroups, nameIn(group, line))]),
  ];
  sumLines(index, question, parts, (lineClass, row) => {
    for (const figures of figuresOf(Number(row.part), lineClass)) addRow(figures, lineClass, row);
  });
  for (const { minutes, ...refusal } of refusals)
    for (const [start, count] of minutes)
      for (const figures of figuresOf(partAt(parts, start), { ...NO_LINE, ...refusal })) {
        figures.callbacks += count;
        figures.refused += count;
      }
  for (const { name, jobs } of countMissed(index, question, partOf('l.due'), ...dividedBy(parts)))
    figuresIn(ofParts, Number(name)).missed += jobs;
  for (const { name, jobs } of group === null ? [] : countMissed(index, question, columnOf(group))) {
    const key = group === 'cause' ? nameOf(MISSED_CAUSE, name) : nameOf(name);
    figuresIn(ofGroups, key).missed += jobs;
  }
  return { ofParts, ofGroups };
}

const NO_LINE = { outcome: 'refused', region: null, status: null };

function nameIn(group: FieldGroup | 'cause', line: Grouped): string {
  return group === 'cause' ? nameOf(causeOfDelivery(line), line.source) : nameOf(line[group]);
}

/** The name of a group of a value, or of a cause and its source. */
function nameOf(value: string | null, source: string | null = null): string {
  return JSON.stringify([value, source]);
}

/** Missed callbacks have one cause, by source. */
function columnOf(group: FieldGroup | 'cause'): string {
  return `k.fields ->> ${CLASS_FIELDS.indexOf(group === 'cause' ? 'source' : group)}`;
}

/** Number of lines of operators' actions, which are no deliveries. */
function countActs(index: ReadableIndex, { range, source, scope }: SummaryQuestion): number {
  const without = LEDGER_ORIGINS.filter((origin) => !isOperatorAct(origin));
  let acts = 0;
  sumLines(index, { range, source, scope, without }, WHOLE, (_, row) => {
    acts += Number(row.lines);
  });
  return acts;
}

function partRows(ofParts: ReadonlyMap<number, Figures>, { begin, width, count }: Parts): PartFigures[] {
  return Array.from({ length: count }, (_, part) => ({
    start: new Date(begin + part * width).toISOString(),
    ...shownFigures(ofParts.get(part) ?? noFigures()),
  }));
}

function groupRows(
  index: ReadableIndex,
  question: SummaryQuestion,
  ofGroups: ReadonlyMap<string, Figures>,
  total: Figures,
): GroupRows {
  const { by, limit } = question;
  if (by === null) return { groups: null, rest: null };
  if (typeof by === 'object') {
    const rows = partRows(sumDeliveries(index, question, by).ofParts, by);
    const groups = rows.map(({ start, ...figures }) => ({
      value: start,
      source: null,
      note: null,
      ...figures,
    }));
    return { groups, rest: null };
  }
  const name = contextOfGroup(by);
  return name === null ? largest(ofGroups, limit) : contextRows(index, question, name, total);
}

/** The largest groups first, and the one without a value last. @param left groups that were left out already, with their sum in `others` */
function largest(groups: ReadonlyMap<string, Figures>, limit: number, left = 0, others = noFigures()) {
  const all = [...groups].map(([name, figures]) => ({ row: rowOf(name, figures), figures }));
  all.sort((one, other) => compareRows(one.row, other.row));
  const cut = all.splice(limit).map(({ figures }) => figures);
  const rest = { groups: left + cut.length, ...shownFigures(sumOf([others, ...cut])) };
  return { groups: all.map(({ row }) => row), rest: rest.groups === 0 ? null : rest };
}

/** Rows of the values of a context name, and of the deliveries without one. */
function contextRows(
  index: ReadableIndex,
  question: SummaryQuestion,
  name: string,
  total: Figures,
): GroupRows {
  const { limit } = question;
  const { values, others, left } = sumByContext(index, question, name, limit);
  const none = figuresWithout(total, sumOf([others, ...values.values()]));
  if (total.missed > 0) {
    const all = countMissed(index, question, 'NULL')[0]?.jobs ?? 0;
    const { ofValues, jobs } = missedByContext(index, question, name);
    none.missed = all - jobs;
    // When values were left out, a value without figures here may be one of those.
    for (const each of ofValues)
      (left === 0 || values.has(each.name) ? figuresIn(values, each.name) : others).missed += each.jobs;
  }
  const named = new Map([...values].map(([value, figures]) => [nameOf(value), figures]));
  const { groups, rest } = largest(named, limit, left, others);
  const row = rowOf(nameOf(null), none);
  return { groups: sizeOf(row) > 0 ? [...groups, row] : groups, rest };
}

/** A row of a group. An empty value is a context value that was left out. */
function rowOf(name: string, figures: Figures): SummaryRow {
  const [value = null, source = null] = JSON.parse(name) as (string | null)[];
  return { value: value || null, source, note: value === '' ? 'omitted' : null, ...shownFigures(figures) };
}

/** Size of a row: its lines, and the refusals and missed callbacks that left none. */
function sizeOf({ lines, refused, outcomes, missed }: SummaryFigures): number {
  return lines + Math.max(0, refused - (outcomes.refused ?? 0)) + missed;
}

/** Sorts behind every value. */
const LAST = '\uffff';

function compareRows(one: SummaryRow, other: SummaryRow): number {
  const isNone = ({ value, note }: SummaryRow) => Number(value === null && note === null);
  return (
    isNone(one) - isNone(other) ||
    sizeOf(other) - sizeOf(one) ||
    ((one.value ?? LAST) < (other.value ?? LAST) ? -1 : 1)
  );
}

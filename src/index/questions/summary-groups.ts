import type {
  RestOfGroups,
  SenderRefusals,
  SummaryFigures,
  SummaryRow,
} from '../../domain/summary-figures.js';
import {
  contextOfGroup,
  type FieldGroup,
  nameOfGroup,
  type SummaryGroup,
} from '../../domain/summary-groups.js';
import { contextHash } from '../context-keys.js';
import type { LongCalls } from '../index-calls.js';
import { type Parts, partAt } from '../queries/align-period.js';
import {
  addFigures,
  addRefusedRequests,
  type Figures,
  figuresIn,
  figuresWithout,
  noFigures,
  periodFigures,
} from '../queries/figures.js';
import type { LineSums, SumQuery } from '../queries/sum-lines.js';
import type { ContextTexts } from './context-texts.js';

/** How figures are grouped: by parts of the time, or by what a line says. */
type GroupBy = SumQuery['by'];

export interface Summed extends LineSums {
  /** Jobs whose callback did not come. */
  readonly missed: ReadonlyMap<string, number>;
}

/** The groups with the most lines, `keep` of them by context, and the sum of the others. */
export async function sumGroups(
  index: LongCalls,
  query: SumQuery,
  refusals: readonly SenderRefusals[],
  signal?: AbortSignal,
): Promise<Summed> {
  const isByContext = typeof query.by === 'string' && contextOfGroup(query.by) !== null;
  // It reads each line.
  const isLong = isByContext || query.context !== undefined;
  const sums = await (isLong ? index.callAside(signal, 'sumLines', query) : index.call('sumLines', query));
  for (const { name, count } of refusals.flatMap((each) => refusalsBy(each, query.by)))
    addRefusedRequests(figuresIn(sums.groups, name), count);
  if (!isByContext) return { ...sums, missed: new Map(await index.call('countMissed', query)) };
  const all = add((await index.call('countMissed', { ...query, by: null })).map(([, jobs]) => jobs));
  if (all === 0) return { ...sums, missed: new Map() };
  const { groups, jobs } = await index.callAside(signal, 'missedByContext', query);
  return {
    ...sums,
    samples: new Map([...groups.map(([hash, , line]) => [hash, line] as const), ...sums.samples]),
    missed: new Map([[NONE, all - jobs], ...groups.map(([hash, missed]) => [hash, missed] as const)]),
  };
}

function add(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** Lines without a value of the context. */
const NONE = nameOfGroup(null);

function refusalsBy({ source, reason, minutes }: SenderRefusals, by: GroupBy) {
  const fields: Record<FieldGroup, string | null> = {
    source,
    outcome: 'refused',
    region: null,
    status: null,
  };
  const nameAt = (start: number) => {
    if (by === null) return '';
    if (typeof by === 'object') return String(partAt(by, start));
    if (by === 'cause') return nameOfGroup(reason, source);
    return contextOfGroup(by) === null ? nameOfGroup(fields[by as FieldGroup]) : NONE;
  };
  return minutes.map(([start, count]) => ({ name: nameAt(start), count }));
}

export function figuresOf(figures: Figures | undefined, missed = 0): SummaryFigures {
  return { ...periodFigures(figures ?? noFigures()), missed };
}

/** The figures of each part, those without lines included. */
export function partRows(
  { groups, missed }: Summed,
  parts: Parts,
): (SummaryFigures & { readonly start: string })[] {
  return Array.from({ length: parts.count }, (_, part) => ({
    start: new Date(parts.begin + part * parts.width).toISOString(),
    ...figuresOf(groups.get(String(part)), missed.get(String(part)) ?? 0),
  }));
}

/** Rows, and the sum of those beyond a limit; null where there are none. */
export interface LimitedRows {
  readonly rows: readonly SummaryRow[];
  readonly rest: RestOfGroups | null;
}

/** The rows of what a line says; the largest first, and what has no value last. */
export function valueRows({ groups, missed }: Summed, limit: number): LimitedRows {
  const names = [...new Set([...groups.keys(), ...missed.keys()])];
  const all = names.map((name) => {
    const [value = null, source = null] = JSON.parse(name) as (string | null)[];
    const figures = figuresOf(groups.get(name), missed.get(name) ?? 0);
    return { name, row: { value, source, note: null, ...figures } };
  });
  all.sort((one, other) => compareRows(one.row, other.row));
  const rest = noFigures();
  const left = all.slice(limit);
  for (const { name } of left) addFigures(rest, groups.get(name) ?? noFigures());
  const restMissed = add(left.map(({ row }) => row.missed));
  return {
    rows: all.slice(0, limit).map(({ row }) => row),
    rest: left.length === 0 ? null : { groups: left.length, ...figuresOf(rest, restMissed) },
  };
}

/** The rows of the values of a name, and one of what has none. */
export async function contextRows(
  { groups, samples, rest, missed }: Summed,
  total: Figures,
  by: SummaryGroup,
  texts: ContextTexts,
  { limit, signal }: { readonly limit: number; readonly signal?: AbortSignal | undefined },
): Promise<LimitedRows> {
  const name = contextOfGroup(by) ?? '';
  const omitted = contextHash(name, null).toString();
  const known = await texts(name, new Map([...samples].filter(([hash]) => hash !== omitted)), signal);
  // Where groups were left out, one without deliveries here may have some among them.
  const listed = new Set(rest.groups === 0 ? [...groups.keys(), ...missed.keys()] : groups.keys());
  listed.delete(NONE);
  const rows = [...listed].map((hash) => {
    const value = known.get(hash) ?? null;
    const note = value !== null ? null : hash === omitted ? ('omitted' as const) : ('unreadable' as const);
    return { hash, row: { value, source: null, note, ...figuresOf(groups.get(hash), missed.get(hash)) } };
  });
  rows.sort((one, other) => compareRows(one.row, other.row));
  const cut = rows.splice(limit);
  const others = noFigures();
  addFigures(others, rest.figures);
  for (const { hash } of cut) addFigures(others, groups.get(hash) ?? noFigures());
  const shown = new Set([NONE, ...rows.map(({ hash }) => hash)]);
  const missedByOthers = add([...missed].map(([hash, jobs]) => (shown.has(hash) ? 0 : jobs)));
  const left = rest.groups + cut.length;
  const named = noFigures();
  for (const { hash } of rows) addFigures(named, groups.get(hash) ?? noFigures());
  addFigures(named, others);
  const ofNone = figuresOf(figuresWithout(total, named), missed.get(NONE));
  const none = { value: null, source: null, note: null, ...ofNone };
  return {
    rows: [...rows.map(({ row }) => row), ...(sizeOf(none) > 0 ? [none] : [])],
    rest: left === 0 ? null : { groups: left, ...figuresOf(others, missedByOthers) },
  };
}

/** What a row counts: lines, and what left none. */
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

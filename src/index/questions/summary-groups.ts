import type {
  RestOfGroups,
  SenderRefusals,
  SummaryFigures,
  SummaryRow,
} from '../../domain/summary-figures.js';
import { contextOfGroup, type FieldGroup, nameOfGroup } from '../../domain/summary-groups.js';
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
  return { ...sums, missed: new Map([[NONE, all - jobs], ...groups]) };
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

/** The rows of groups: the largest first, and what has no value last. */
export function valueRows({ groups, missed, rest }: Summed, limit: number): LimitedRows {
  // Where groups were left out, one without deliveries here may have some among them.
  const names = new Set(rest.groups === 0 ? [...groups.keys(), ...missed.keys()] : groups.keys());
  const all = [...names].map((name) => ({ name, row: rowOf(name, groups.get(name), missed.get(name)) }));
  all.sort((one, other) => compareRows(one.row, other.row));
  const cut = all.splice(limit);
  const others = noFigures();
  addFigures(others, rest.figures);
  for (const { name } of cut) addFigures(others, groups.get(name) ?? noFigures());
  const shown = new Set(all.map(({ name }) => name));
  const missedByOthers = add([...missed].map(([name, jobs]) => (shown.has(name) ? 0 : jobs)));
  const left = rest.groups + cut.length;
  return {
    rows: all.map(({ row }) => row),
    rest: left === 0 ? null : { groups: left, ...figuresOf(others, missedByOthers) },
  };
}

/** The rows of the values of a name of the context, and one of what has none. */
export function contextRows({ groups, missed, rest }: Summed, total: Figures, limit: number): LimitedRows {
  const values = new Map([...groups].filter(([name]) => name !== NONE));
  const named = noFigures();
  for (const figures of [rest.figures, ...values.values()]) addFigures(named, figures);
  const missedOfValues = new Map([...missed].filter(([name]) => name !== NONE));
  const listed = valueRows({ groups: values, missed: missedOfValues, rest }, limit);
  const none = rowOf(NONE, figuresWithout(total, named), missed.get(NONE));
  return { ...listed, rows: [...listed.rows, ...(sizeOf(none) > 0 ? [none] : [])] };
}

/** An empty value is one of the context that was left out. */
function rowOf(name: string, figures: Figures | undefined, missed: number | undefined): SummaryRow {
  const [value = null, source = null] = JSON.parse(name) as (string | null)[];
  const note = value === '' ? 'omitted' : null;
  return { value: value || null, source, note, ...figuresOf(figures, missed) };
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

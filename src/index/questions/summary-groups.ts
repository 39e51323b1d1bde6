import type {
  RestOfGroups,
  SenderRefusals,
  SummaryFigures,
  SummaryRow,
} from '../../domain/summary-figures.js';
import { contextOfGroup, nameOfGroup, type SummaryGroup } from '../../domain/summary-groups.js';
import { contextHash } from '../context-keys.js';
import type { IndexCalls } from '../index-calls.js';
import { type Parts, partAt } from '../queries/align-period.js';
import {
  createPeriodFigures,
  type FigureGroups,
  type FigureParts,
  type Figures,
  figuresIn,
  figuresWithout,
  refusedRequests,
} from '../queries/period-figures.js';
import type { LineSums, SumQuery } from '../queries/sum-lines.js';
import type { ContextTexts } from './context-texts.js';

/** How figures are grouped: by parts of the time, or by what a line says. */
type GroupBy = SumQuery['by'];

export interface Summed {
  readonly groups: FigureGroups;
  readonly samples: ReadonlyMap<string, number>;
  /** Groups that were left out because there are more than were to be kept. */
  readonly rest: { readonly groups: number; readonly figures: Figures };
  readonly missed: ReadonlyMap<string, number>;
}

/** The groups with the most lines, `keep` of them, and the sum of the others. Memory is bounded by them, however many there are. */
export async function sumGroups(
  index: IndexCalls,
  query: Omit<SumQuery, 'after'>,
  refusals: readonly SenderRefusals[],
  signal?: AbortSignal,
): Promise<Summed> {
  const groups: FigureGroups = new Map();
  const samples = new Map<string, number>();
  const rest = { groups: 0, figures: createPeriodFigures() };
  const trim = () => {
    const bySize = [...groups].sort(([, one], [, other]) => other.parts().lines - one.parts().lines);
    for (const [name, figures] of bySize.slice(query.keep)) {
      rest.groups += 1;
      rest.figures.addAll(figures.parts());
      groups.delete(name);
      samples.delete(name);
    }
  };
  for (let after: LineSums['next'] = null; ; ) {
    signal?.throwIfAborted();
    const found: LineSums = await index.call('sumLines', { ...query, after });
    for (const [name, parts, sample] of found.groups) {
      figuresIn(groups, name).addAll(parts);
      if (sample !== null) samples.set(name, sample);
    }
    rest.groups += found.rest?.groups ?? 0;
    if (found.rest !== null) rest.figures.addAll(found.rest.parts);
    if (groups.size > 2 * query.keep) trim();
    after = found.next;
    if (after === null) break;
  }
  trim();
  for (const { name, count } of refusals.flatMap((each) => refusalsBy(each, query.by)))
    figuresIn(groups, name).addAll(refusedRequests(count));
  return { groups, samples, rest, missed: await missedOf(index, query) };
}

/** By group; none by context. */
async function missedOf(
  index: IndexCalls,
  { keep: _, ...query }: Omit<SumQuery, 'after'>,
): Promise<ReadonlyMap<string, number>> {
  const missed = new Map<string, number>();
  if (typeof query.by === 'string' && contextOfGroup(query.by) !== null) return missed;
  for (const [name, jobs] of await index.call('countMissed', query))
    missed.set(name, (missed.get(name) ?? 0) + jobs);
  return missed;
}

/** Lines without a value of the context. */
const NONE = nameOfGroup(null);

function refusalsBy({ source, reason, minutes }: SenderRefusals, by: GroupBy) {
  const nameAt = (start: number) => {
    if (by === null) return '';
    if (typeof by === 'object') return String(partAt(by, start));
    if (by === 'cause') return nameOfGroup(reason, source);
    if (by === 'source') return nameOfGroup(source);
    return by === 'outcome' ? nameOfGroup('refused') : NONE;
  };
  return minutes.map(([start, count]) => ({ name: nameAt(start), count }));
}

export function figuresOf(figures: Figures | undefined, missed: number | null = 0): SummaryFigures {
  return { ...(figures ?? createPeriodFigures()).result(), missed };
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
  const rest = createPeriodFigures();
  const left = all.slice(limit);
  for (const { name } of left) rest.addAll((groups.get(name) ?? createPeriodFigures()).parts());
  const restMissed = left.reduce((sum, { row }) => sum + (row.missed ?? 0), 0);
  return {
    rows: all.slice(0, limit).map(({ row }) => row),
    rest: left.length === 0 ? null : { groups: left.length, ...figuresOf(rest, restMissed) },
  };
}

/** The rows of the values of a name, and one of what has none. */
export async function contextRows(
  { groups, samples, rest }: Summed,
  total: FigureParts,
  by: SummaryGroup,
  texts: ContextTexts,
  signal?: AbortSignal,
): Promise<LimitedRows> {
  const name = contextOfGroup(by) ?? '';
  const omitted = contextHash(name, null).toString();
  const known = await texts(name, new Map([...samples].filter(([hash]) => hash !== omitted)), signal);
  const named = createPeriodFigures();
  named.addAll(rest.figures.parts());
  const rows: SummaryRow[] = [];
  for (const [hash, figures] of groups) {
    if (hash === NONE) continue;
    named.addAll(figures.parts());
    const value = known.get(hash) ?? null;
    const note = value !== null ? null : hash === omitted ? 'omitted' : 'unreadable';
    rows.push({ value, source: null, note, ...figuresOf(figures, null) });
  }
  const none = createPeriodFigures();
  none.addAll(figuresWithout(total, named.parts()));
  const left = { value: null, source: null, note: null, ...figuresOf(none, null) };
  return {
    rows: [...rows.sort(compareRows), ...(sizeOf(left) > 0 ? [left] : [])],
    rest: rest.groups === 0 ? null : { groups: rest.groups, ...figuresOf(rest.figures, null) },
  };
}

/** What a row counts: lines, and what left none. */
function sizeOf({ lines, refused, outcomes, missed }: SummaryFigures): number {
  return lines + Math.max(0, refused - (outcomes.refused ?? 0)) + (missed ?? 0);
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

import { isDelivery, isOperatorAct, isOutcomeOfNoDelivery, LEDGER_ORIGINS } from '../../domain/delivery.js';
import { NAMED_FILTER_NAMES, type NamedFilter } from '../../domain/line-filters.js';
import { Problem } from '../../domain/problem.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type {
  RestOfGroups,
  SenderRefusals,
  SummaryFigures,
  SummaryRow,
} from '../../domain/summary-figures.js';
import {
  contextOfGroup,
  isSummaryGroup,
  SUMMARY_GROUPS,
  type SummaryGroup,
} from '../../domain/summary-groups.js';
import { parseContextFilter } from '../../ledger/context-filter.js';
import { HOUR } from '../../ledger/hours.js';
import { instantOf, writeInstant } from '../../lib/time/instant.js';
import type { LongCalls } from '../index-calls.js';
import { alignPeriod, type Parts } from '../queries/align-period.js';
import { addFigures, noFigures } from '../queries/figures.js';
import { type LastAccepted, lastOf } from '../queries/last-accepted.js';
import type { SumQuery, TimeRange } from '../queries/sum-lines.js';
import type { NameFilters } from './filter-names.js';
import {
  contextRows,
  figuresOf,
  type LimitedRows,
  partRows,
  sumGroups,
  valueRows,
} from './summary-groups.js';

/** Filters as those of the list of deliveries, where an origin or outcome of operators' acts asks for those. */
export interface SummaryQuery extends NameFilters {
  /** ISO 8601. Default: 24 hours before `until`. */
  readonly since?: string | undefined;
  /** ISO 8601. Default: now. */
  readonly until?: string | undefined;
  /**
   * Number of parts, 1 to 500; there may be fewer. With more than one the time is widened to multiples of `resolutionMs`. Default 48, and 1
   * with `by`.
   */
  readonly buckets?: number | undefined;
  /** Groups the deliveries. Default: they are not grouped. */
  readonly by?: string | undefined;
  /** Groups at most, those with the most deliveries, but for hours and days; the rest is summed up. Default 100. */
  readonly limit?: number | undefined;
  /** Only lines of these sources; null or absent: all lines. */
  readonly scope?: SourceScope | undefined;
  /** Reads requests of a time, in milliseconds since the epoch, that were refused and left no line. Default: there are none. */
  readonly refusedRequests?: ((range: TimeRange) => Promise<readonly SenderRefusals[]>) | undefined;
  /** Ends the search, which then throws its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Figures of the deliveries of a time. */
export interface DeliverySummary {
  /** ISO 8601; the time of the figures. */
  readonly since: string;
  readonly until: string;
  /** Milliseconds: the time and its parts begin at multiples of it. */
  readonly resolutionMs: number;
  readonly total: SummaryFigures;
  /** Parts of equal length, oldest first; empty ones included. The last one may be shorter. */
  readonly buckets: readonly (SummaryFigures & { readonly start: string })[];
  readonly by: SummaryGroup | null;
  /** The groups in order; null where nothing is grouped. */
  readonly groups: readonly SummaryRow[] | null;
  /** Groups beyond the limit and their sum; null where there are none. */
  readonly rest: RestOfGroups | null;
  /** What operators did; null with a filter by context. */
  readonly acts: number | null;
  /** Requests among `callbacks` and `refused` that left no line; null where they could not be read. */
  readonly unrecorded: number | null;
  readonly last: LastAccepted;
}

export const MOST_GROUPS = 10_000;

/** Rejects with `Problem` `request-invalid` for bad instants, numbers, groups and contexts, and with `IndexError`. */
export async function findSummary(
  index: LongCalls,
  query: SummaryQuery,
  now: number,
): Promise<DeliverySummary> {
  const { by = null, limit = 100, signal, scope = null } = query;
  const asked = rangeOf(query, now);
  if (by !== null && !isSummaryGroup(by)) throw unknownGroup(by);
  const buckets = bucketsOf(query);
  const aligned = buckets === 1 ? null : alignPeriod({ ...asked, buckets }, now);
  const range = aligned ?? asked;
  const parts = aligned && { begin: aligned.since, width: aligned.width, count: aligned.parts };
  const filters = sumQueryOf(query, range);
  const refusals = await refusalsOf(query, range);
  const sum = (group: SumQuery['by']) =>
    sumGroups(index, { ...filters, by: group, keep: MOST_GROUPS }, refusals ?? [], signal);
  const chart = await sum(parts);
  const all = noFigures();
  for (const figures of chart.groups.values()) addFigures(all, figures);
  const total = figuresOf(all, add([...chart.missed.values()]));
  const groups = by === null ? null : await groupsOf();

  async function groupsOf(): Promise<LimitedRows> {
    const time = timeParts(by ?? '', range);
    if (time !== null) return { rows: hourRows(await sum(time), time), rest: null };
    const group = by as Exclude<SummaryGroup, 'hour' | 'day'>;
    if (contextOfGroup(group) === null) return valueRows(await sum(group), limit);
    const summed = await sumGroups(index, { ...filters, by: group, keep: limit }, refusals ?? [], signal);
    return contextRows(summed, all, limit);
  }

  return {
    since: writeInstant(range.since),
    until: writeInstant(range.until),
    resolutionMs: aligned?.resolution ?? 1,
    total,
    buckets: parts === null ? [{ start: writeInstant(range.since), ...total }] : partRows(chart, parts),
    by: by as SummaryGroup | null,
    groups: groups?.rows ?? null,
    rest: groups?.rest ?? null,
    acts: filters.context === undefined ? await index.call('countActs', filters) : null,
    unrecorded: refusals && add(refusals.flatMap(({ minutes }) => minutes.map(([, count]) => count))),
    last: lastOf(await index.call('lastAccepted', { since: now - LAST_WITHIN, scope }), scope),
  };
}

/** Milliseconds within which the last accepted callbacks are searched. */
const LAST_WITHIN = 7 * 24 * HOUR;

function rangeOf(query: SummaryQuery, now: number): TimeRange {
  // The end is exclusive, and a line of this millisecond counts.
  const until = instantOf('until', query.until) ?? now + 1;
  const since = instantOf('since', query.since) ?? until - 24 * HOUR;
  if (since >= until) throw new Problem('request-invalid', 'since must be before until.');
  return { since, until };
}

function bucketsOf({ buckets, by }: SummaryQuery): number {
  const number = buckets ?? (by === undefined ? 48 : 1);
  if (Number.isInteger(number) && number >= 1 && number <= 500) return number;
  throw new Problem('request-invalid', 'buckets must be a whole number from 1 to 500.');
}

function unknownGroup(by: string): Problem {
  const known = `${SUMMARY_GROUPS.join(', ')}, or context.<name> such as context.customer`;
  return new Problem(
    'request-invalid',
    `by: ${JSON.stringify(by.slice(0, 64))} is not known; known are ${known}.`,
  );
}

function sumQueryOf(query: SummaryQuery, range: TimeRange) {
  const {
    since: _,
    until: __,
    buckets,
    by,
    limit,
    refusedRequests,
    signal,
    context,
    scope,
    ...filters
  } = query;
  const { origin, outcome } = filters;
  const isAsked = origin !== undefined || isOutcomeOfNoDelivery(outcome ?? '');
  return {
    ...filters,
    range,
    scope: scope ?? undefined,
    without: isAsked ? [] : LEDGER_ORIGINS.filter((each) => !isDelivery(each) || isOperatorAct(each)),
    context: context === undefined ? undefined : parseContextFilter(context),
  };
}

/** Filters that tell refusals without a line apart. */
const OF_REFUSALS: readonly NamedFilter[] = ['source', 'outcome', 'origin'];

/** Matching refusals; null where they could not be read. A request without a line is known only by its source. */
async function refusalsOf(query: SummaryQuery, range: TimeRange): Promise<readonly SenderRefusals[] | null> {
  const { source, context, outcome = 'refused', origin = 'callback', scope = null } = query;
  const areOthers = NAMED_FILTER_NAMES.some(
    (name) => !OF_REFUSALS.includes(name) && query[name] !== undefined,
  );
  if (
    query.refusedRequests === undefined ||
    areOthers ||
    context !== undefined ||
    outcome !== 'refused' ||
    origin !== 'callback'
  )
    return [];
  const read = await query.refusedRequests(range).catch(() => null);
  const isAsked = (each: SenderRefusals) =>
    isInScope(scope, each.source) && (source === undefined || each.source === source);
  return read?.filter(isAsked) ?? null;
}

/** Hours and days begin at their multiples; the first and the last one may be a part of one. */
function timeParts(by: string, { since, until }: TimeRange): Parts | null {
  const width = by === 'hour' ? HOUR : by === 'day' ? 24 * HOUR : null;
  if (width === null) return null;
  const begin = Math.floor(since / width) * width;
  const count = Math.ceil((until - begin) / width);
  if (count <= MOST_GROUPS) return { begin, width, count };
  throw new Problem(
    'request-invalid',
    `by: ${by} would give ${count} groups; choose a shorter time, or day.`,
  );
}

function hourRows(...given: Parameters<typeof partRows>): SummaryRow[] {
  return partRows(...given).map(({ start, ...figures }) => ({
    value: start,
    source: null,
    note: null,
    ...figures,
  }));
}

function add(numbers: readonly (number | null)[]): number {
  return numbers.reduce<number>((sum, number) => sum + (number ?? 0), 0);
}

import { isDelivery, isNonDeliveryOutcome, isOperatorAct, LEDGER_ORIGINS } from '../../domain/delivery.js';
import { lineFiltersOf, NAMED_FILTER_NAMES, type NamedFilter } from '../../domain/line-filters.js';
import { Problem } from '../../domain/problem.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { SenderRefusals } from '../../domain/summary-figures.js';
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
import { extentOf, type IndexExtent } from '../index-extent.js';
import { alignPeriod, type Parts, WHOLE } from '../queries/align-period.js';
import type { TimeRange } from '../queries/sum-lines.js';
import type { IndexedSummary, NamedGroup } from '../queries/summarise.js';
import type { NameFilters } from './filter-names.js';

/** Filters like those of the list of deliveries: an origin or outcome of operators' actions selects these. */
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
  /** Maximum number of groups, except for hours and days: those with the most deliveries. The rest is summed. Default 100. */
  readonly limit?: number | undefined;
  /** Only lines of these sources; null or absent: all lines. */
  readonly scope?: SourceScope | undefined;
  /** Reads refused requests of a time that left no line. Default: there are none. */
  readonly refusedRequests?: ((range: TimeRange) => Promise<readonly SenderRefusals[]>) | undefined;
  /** Aborts the search with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Figures of the deliveries of a time, and the extent of the index. */
export interface LedgerSummary extends IndexedSummary {
  /** ISO 8601. */
  readonly since: string;
  readonly until: string;
  /** Milliseconds: the time and its parts begin at multiples of it. */
  readonly resolutionMs: number;
  readonly by: SummaryGroup | null;
  /** Number of requests among `callbacks` and `refused` that left no line; null when they could not be read. */
  readonly unrecorded: number | null;
  readonly index: IndexExtent;
}

export const MAX_GROUPS = 10_000;

/** Rejects with `Problem` `request-invalid` for bad instants, numbers, groups and contexts, with `StoreError` and `IndexError`. */
export async function findSummary(
  index: LongCalls,
  query: SummaryQuery,
  now = Date.now(),
): Promise<LedgerSummary> {
  const { by = null, limit = 100, signal } = query;
  const requested = rangeOf(query, now);
  if (by !== null && !isSummaryGroup(by)) throw unknownGroup(by);
  const buckets = bucketsOf(query);
  const aligned = buckets === 1 ? null : alignPeriod({ ...requested, buckets }, now);
  const range = aligned ?? requested;
  const refusals = await refusalsOf(query, range);
  const question = {
    ...sumQueryOf(query, range),
    parts: aligned?.parts ?? { ...WHOLE, begin: range.since },
    by: by === 'hour' || by === 'day' ? timeParts(by, range) : (by as NamedGroup | null),
    limit,
    refusals: refusals ?? [],
    lastSince: now - LAST_WITHIN,
  };
  const state = await index.call('state');
  // Such a question reads each line.
  const isLong = question.context !== undefined || contextOfGroup(by ?? '') !== null;
  const summary = await (isLong
    ? index.callInOwnWorker(signal, 'summarise', question)
    : index.call('summarise', question));
  return {
    ...summary,
    since: writeInstant(range.since),
    until: writeInstant(range.until),
    resolutionMs: aligned?.resolution ?? 1,
    by,
    unrecorded: refusals && sum(refusals.flatMap(({ minutes }) => minutes.map(([, count]) => count))),
    index: extentOf(state),
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
  const { origin, outcome = '', context, scope } = query;
  const isAsked = origin !== undefined || isNonDeliveryOutcome(outcome);
  return {
    ...lineFiltersOf(query),
    range,
    scope: scope ?? undefined,
    without: isAsked ? [] : LEDGER_ORIGINS.filter((each) => !isDelivery(each) || isOperatorAct(each)),
    context: context === undefined ? undefined : parseContextFilter(context),
  };
}

/** The filters that apply to refused requests without a line. */
const OF_REFUSALS: readonly NamedFilter[] = ['source', 'outcome', 'origin'];

/** Matching refused requests without a line, of which only the source is known; null when they could not be read. */
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

/** Hours or days of a range, aligned to UTC; the first and the last may be cut. */
function timeParts(by: 'hour' | 'day', { since, until }: TimeRange): Parts {
  const width = by === 'hour' ? HOUR : 24 * HOUR;
  const begin = Math.floor(since / width) * width;
  const count = Math.ceil((until - begin) / width);
  if (count <= MAX_GROUPS) return { begin, width, count };
  throw new Problem(
    'request-invalid',
    `by: ${by} would give ${count} groups; choose a shorter time, or day.`,
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

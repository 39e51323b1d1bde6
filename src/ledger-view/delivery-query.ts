import { ACCESS_ORIGIN, isDelivery, isOperatorAct } from '../domain/delivery.js';
import { Problem } from '../domain/problem.js';
import type { SourceScope } from '../domain/rights.js';
import { readInstant } from '../time/instant.js';
import { type ContextFilter, matchContext, parseContextFilter } from './context-filter.js';
import type { LedgerRow } from './ledger-row.js';
import { beforeInstant, comparePositions, decodeCursor, type RowPosition } from './row-position.js';
import type { RowTest } from './row-scope.js';

/** Filters of the list of deliveries; an absent filter matches everything. */
export interface DeliveryQuery {
  /** ISO 8601; received at or after it. */
  readonly since?: string | undefined;
  /** ISO 8601; received before it. */
  readonly until?: string | undefined;
  readonly job?: string | undefined;
  readonly source?: string | undefined;
  readonly region?: string | undefined;
  readonly status?: string | undefined;
  readonly outcome?: string | undefined;
  readonly origin?: string | undefined;
  /** Accesses, or all acts of operators, accesses included. An `origin` or `outcome` that asks for such lines has precedence. */
  readonly without?: 'accesses' | 'acts' | undefined;
  /** Only lines that exist for a client with these sources. Default: all. */
  readonly scope?: SourceScope | undefined;
  /** `name:value` of the context. */
  readonly context?: string | undefined;
  /** Rows per page, 1 to 500. Default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** A validated query. */
export interface RowSearch {
  readonly limit: number;
  /** Milliseconds since the epoch; -Infinity without a lower bound. */
  readonly since: number;
  /** Only rows before this position match. */
  readonly start: RowPosition;
  /** Whether the query has a range, so that hours before the window are searched too. */
  readonly explicit: boolean;
  readonly filters: RowFilters;
  /** Which origins are listed, besides the filter. Part of `matches`. */
  readonly lists: OriginTest;
  /** Whether a row is in the scope. Part of `matches`. */
  readonly exists: RowTest;
  readonly context: ContextFilter | null;
  readonly matches: (row: LedgerRow) => boolean;
}

export type OriginTest = (origin: string) => boolean;

const FIELDS = ['job', 'source', 'region', 'status', 'outcome', 'origin'] as const;
/** Wanted values by field. */
export type RowFilters = Readonly<Partial<Record<(typeof FIELDS)[number], string>>>;
const END_OF_TIME = 8.64e15;
/** Outcomes of lines that tell of no delivery. */
const OTHER_OUTCOMES = ['read', 'signed-in', 'sign-in-failed', 'credential-checked', 'expired'];
/** Outcomes that only acts of operators have. */
const ACT_OUTCOMES = [
  'released',
  'release-failed',
  'dismissed',
  'replayed',
  'cancelled',
  'acknowledged',
  'chosen',
  'erased',
];

/**
 * Throws `Problem` `request-invalid` for invalid instants, limits, contexts and cursors.
 *
 * @param exists whether a row is in the scope of the query
 * @param lists which origins are listed
 */
export function prepareSearch(
  query: DeliveryQuery,
  exists: RowTest,
  lists: OriginTest = listedOrigins(query),
): RowSearch {
  const { limit = 50, cursor } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > 500) {
    throw new Problem('request-invalid', 'limit must be a whole number from 1 to 500.');
  }
  const since = instantOf('since', query.since) ?? Number.NEGATIVE_INFINITY;
  const until = beforeInstant(instantOf('until', query.until) ?? END_OF_TIME);
  const wanted = FIELDS.flatMap((field) => {
    const value = query[field];
    return value === undefined ? [] : [{ field, value }];
  });
  const context = query.context === undefined ? null : parseContextFilter(query.context);
  const hasContext = context === null ? null : matchContext(context);
  return {
    limit,
    since,
    start: cursor === undefined ? until : earlier(until, decodeCursor(cursor)),
    filters: Object.fromEntries(wanted.map(({ field, value }) => [field, value])),
    context,
    explicit: query.since !== undefined || query.until !== undefined,
    lists,
    exists,
    matches: (row) => {
      for (const { field, value } of wanted) if (row[field] !== value) return false;
      return lists(row.origin) && exists(row) && (hasContext?.(row) ?? true);
    },
  };
}

/**
 * Accesses, sign-ins and what expired are listed for a client that asks for them, and for one that asks for a job. What is
 * asked for by its name is never left out: an empty list would read as if there were none.
 */
function listedOrigins({ job, origin, outcome = '', without }: DeliveryQuery): OriginTest {
  if (origin !== undefined || OTHER_OUTCOMES.includes(outcome) || ACT_OUTCOMES.includes(outcome)) {
    return () => true;
  }
  const isListed = job === undefined ? isDelivery : () => true;
  if (without === undefined) return isListed;
  const isLeftOut = without === 'acts' ? isOperatorAct : (each: string) => each === ACCESS_ORIGIN;
  return (each) => isListed(each) && !isLeftOut(each);
}

/** A cursor may come from a page with another `until`, or without one. */
function earlier(a: RowPosition, b: RowPosition): RowPosition {
  return comparePositions(a, b) < 0 ? a : b;
}

/** Throws `Problem` `request-invalid` for an invalid instant; undefined stays undefined. */
export function instantOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = readInstant(text);
  if (time !== null) return time;
  throw new Problem('request-invalid', `${name} must be an ISO 8601 instant with its zone, or a date.`);
}

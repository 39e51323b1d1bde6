import { ACCESS_ORIGIN, isDelivery, isOperatorAct, isOutcomeOfNoDelivery } from '../../domain/delivery.js';
import { Problem } from '../../domain/problem.js';
import type { SourceScope } from '../../domain/rights.js';
import { readInstant } from '../../time/instant.js';
import { type ContextFilter, parseContextFilter } from './context-filter.js';
import type { LogFilter } from './log/log-filter.js';
import {
  beforeInstant,
  comparePositions,
  decodeCursor,
  END_OF_LOG,
  type LogPosition,
} from './log/log-position.js';

/** Filters of the list of deliveries; an absent filter matches everything. */
export interface DeliveryQuery {
  /** ISO 8601; written at or after it. */
  readonly since?: string | undefined;
  /** ISO 8601; written before it. */
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
  /** `name=value` of the context. */
  readonly context?: string | undefined;
  /** A name of the context whose value was left out; excludes `context`. */
  readonly contextOmitted?: string | undefined;
  /** Rows per page, 1 to 500. Default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  /** Ends the search, which then throws its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A validated query. */
export interface DeliverySearch {
  readonly limit: number;
  /** Written from then on, in milliseconds since the epoch; -Infinity without a lower bound. */
  readonly since: number;
  /** Only lines before this position match. */
  readonly start: LogPosition;
  /** Whether the query has a range, so that hours before those in memory are searched too. */
  readonly explicit: boolean;
  readonly filter: LogFilter;
  readonly signal: AbortSignal | undefined;
}

const FIELDS = ['job', 'source', 'region', 'status', 'outcome', 'origin'] as const;

/**
 * Throws `Problem` `request-invalid` for invalid instants, limits, contexts and cursors.
 *
 * @param exists whether a line is in the scope of the query
 * @param lists which origins are listed
 */
export function prepareSearch(
  query: DeliveryQuery,
  exists: LogFilter['exists'],
  lists = listedOrigins(query),
): DeliverySearch {
  const { limit = 50, cursor } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > 500) {
    throw new Problem('request-invalid', 'limit must be a whole number from 1 to 500.');
  }
  const until = instantOf('until', query.until);
  const end = until === undefined ? END_OF_LOG : beforeInstant(until);
  const wanted = FIELDS.flatMap((field) => {
    const value = query[field];
    return value === undefined ? [] : [[field, value] as const];
  });
  const context = contextFilterOf(query);
  return {
    limit,
    since: instantOf('since', query.since) ?? Number.NEGATIVE_INFINITY,
    start: cursor === undefined ? end : earlier(end, decodeCursor(cursor)),
    explicit: query.since !== undefined || query.until !== undefined,
    filter: { wanted: Object.fromEntries(wanted), context, lists, exists },
    signal: query.signal,
  };
}

function contextFilterOf({ context, contextOmitted }: DeliveryQuery): ContextFilter | null {
  if (context !== undefined) return parseContextFilter(context);
  return contextOmitted === undefined ? null : { name: contextOmitted, value: null };
}

/**
 * Accesses, sign-ins and what expired are listed for a client that asks for them, and for one that asks for a job. What is
 * asked for by its name is never left out: an empty list would read as if there were none.
 */
function listedOrigins({ job, origin, outcome = '', without }: DeliveryQuery): LogFilter['lists'] {
  if (origin !== undefined || isOutcomeOfNoDelivery(outcome)) return () => true;
  const isListed = job === undefined ? isDelivery : () => true;
  if (without === undefined) return isListed;
  const isLeftOut = without === 'acts' ? isOperatorAct : (each: string) => each === ACCESS_ORIGIN;
  return (each) => isListed(each) && !isLeftOut(each);
}

/** A cursor may come from a page with another `until`, or without one. */
function earlier(a: LogPosition, b: LogPosition): LogPosition {
  return comparePositions(a, b) < 0 ? a : b;
}

/** Throws `Problem` `request-invalid` for an invalid instant; undefined stays undefined. */
export function instantOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = readInstant(text);
  if (time !== null) return time;
  throw new Problem('request-invalid', `${name} must be an ISO 8601 instant with its zone, or a date.`);
}

import {
  ACCESS_ORIGIN,
  isDelivery,
  isOperatorAct,
  isOutcomeOfNoDelivery,
  LEDGER_ORIGINS,
} from '../../domain/delivery.js';
import { Problem } from '../../domain/problem.js';
import type { SourceScope } from '../../domain/rights.js';
import { parseContextFilter } from '../../ledger/context-filter.js';
import { instantOf } from '../../lib/time/instant.js';
import type { LineFilters, LineQuery } from '../queries/find-lines.js';
import { decodeCursor } from './line-cursor.js';

/** Filters of the list of deliveries; an absent filter matches everything. */
export interface DeliveryQuery extends LineFilters {
  /** ISO 8601; written at or after it. */
  readonly since?: string | undefined;
  /** ISO 8601; written before it. */
  readonly until?: string | undefined;
  /** Accesses, or all acts of operators, accesses included. An `actor`, `origin` or `outcome` that asks for such lines has precedence. */
  readonly without?: 'accesses' | 'acts' | undefined;
  /** All acts of operators and nothing else, accesses included. */
  readonly only?: 'acts' | undefined;
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

/** The query of the index. Throws `Problem` `request-invalid` for invalid instants, limits, contexts and cursors. */
export function lineQueryOf(query: DeliveryQuery, lists = listedOrigins(query)): LineQuery {
  const { limit = 50, cursor, since, until, scope } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > 500) {
    throw new Problem('request-invalid', 'limit must be a whole number from 1 to 500.');
  }
  return {
    ...filtersOf(query),
    limit,
    since: instantOf('since', since),
    until: instantOf('until', until),
    before: cursor === undefined ? undefined : decodeCursor(cursor),
    without: LEDGER_ORIGINS.filter((each) => !lists(each)),
    context: contextFilterOf(query),
    scope: scope ?? undefined,
  };
}

/** What is left of a query without what has a meaning of its own: a new filter goes through by itself. */
function filtersOf(query: DeliveryQuery): LineFilters {
  const { since, until, without, only, scope, context, contextOmitted, limit, cursor, signal, ...filters } =
    query;
  return filters;
}

function contextFilterOf({ context, contextOmitted }: DeliveryQuery): LineQuery['context'] {
  if (context !== undefined) return parseContextFilter(context);
  return contextOmitted === undefined ? undefined : { name: contextOmitted, value: null };
}

/**
 * Accesses, sign-ins and what expired are listed for a client that asks for them, and for one that asks for a job. What is
 * asked for by its name is never left out: an empty list would read as if there were none.
 */
function listedOrigins({
  job,
  origin,
  actor,
  outcome = '',
  without,
  only,
}: DeliveryQuery): (origin: string) => boolean {
  if (only === 'acts') return isOperatorAct;
  if (origin !== undefined || actor !== undefined || isOutcomeOfNoDelivery(outcome)) return () => true;
  const isListed = job === undefined ? isDelivery : () => true;
  if (without === undefined) return isListed;
  const isLeftOut = without === 'acts' ? isOperatorAct : (each: string) => each === ACCESS_ORIGIN;
  return (each) => isListed(each) && !isLeftOut(each);
}

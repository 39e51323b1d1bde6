import {
  ACCESS_ORIGIN,
  isDelivery,
  isNonDeliveryOutcome,
  isOperatorAct,
  LEDGER_ORIGINS,
  type LedgerLine,
} from '../../domain/delivery.js';
import { type LineFilters, lineFiltersOf } from '../../domain/line-filters.js';
import { Problem } from '../../domain/problem.js';
import type { SourceScope } from '../../domain/rights.js';
import { parseContextFilter } from '../../ledger/context-filter.js';
import { type LinesAt, type PlacedLine, readLinesAt } from '../../ledger/log/read-lines-at.js';
import { pageOf } from '../../lib/text/list-cursor.js';
import { instantsOf, writeInstant } from '../../lib/time/instant.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { LongCalls } from '../index-calls.js';
import type { LineQuery } from '../queries/find-lines.js';
import { decodeCursor, encodeCursor } from './line-cursor.js';

export interface QuestionParts {
  readonly store: ObjectStore;
  readonly index: LongCalls;
}

/** A line and its place in the log. */
export interface PlacedEntry {
  readonly place: PlacedLine;
  readonly line: LedgerLine;
}

/** The lines of a page, newest first, and the cursor of the next one; null when nothing is left. */
export interface FoundLines {
  /** Lines that the index has and that the log no longer has; they are not among the entries. */
  readonly unread: LinesAt['unread'];
  readonly entries: readonly PlacedEntry[];
  readonly nextCursor: string | null;
}

/** Rejects with `Problem` `request-invalid`, `StoreError` and `IndexError`. */
export function findDeliveries(parts: QuestionParts, query: DeliveryQuery): Promise<FoundLines> {
  return findPage(parts, query, lineQueryOf(query));
}

const REMEDY = 'repair the ledger, or choose a time without them.';
/** Milliseconds by which clocks may differ. */
const CLOCK_TOLERANCE = 15 * 60_000;
/** Milliseconds from the receipt of a delivery until its line is written, at most. */
const LONGEST_DELIVERY = 86_400_000;

/** Time range in which the lines of deliveries received at these times were written. Times in milliseconds since the epoch. */
export function writtenRange(received: readonly number[]) {
  return {
    since: writeInstant(Math.min(...received) - CLOCK_TOLERANCE),
    until: writeInstant(Math.max(...received) + LONGEST_DELIVERY),
  };
}

/** Page size of `allDeliveries`. */
const PAGE = 500;

/** All matching lines of deliveries, page by page. Rejects with `Problem` `conflict` when some can no longer be read. */
export async function* allDeliveries(
  parts: QuestionParts,
  query: Omit<DeliveryQuery, 'limit' | 'cursor'>,
): AsyncGenerator<readonly LedgerLine[]> {
  let cursor: string | undefined;
  do {
    const page = { ...query, limit: PAGE, cursor };
    const { entries, nextCursor, unread } = await findPage(parts, page, lineQueryOf(page, isDelivery));
    const [first] = unread;
    if (first !== undefined)
      throw new Problem('conflict', `Lines of ${first.key} cannot be read any more: ${REMEDY}`);
    yield entries.map(({ line }) => line);
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
}

async function findPage(
  { store, index }: QuestionParts,
  { signal }: DeliveryQuery,
  query: ReturnType<typeof lineQueryOf>,
): Promise<FoundLines> {
  const found = await index.call('findLines', { ...query, limit: query.limit + 1 });
  if (found.length === 0) return { entries: [], unread: [], nextCursor: null };
  const { rows: places, nextCursor } = pageOf(found, query.limit, encodeCursor);
  const { lines, unread } = await readLinesAt(store, places, signal);
  return {
    entries: places.flatMap((place, at) => {
      const line = lines[at];
      return line ? [{ place, line }] : [];
    }),
    unread,
    nextCursor,
  };
}

/** Filters of the list of deliveries; an absent filter matches everything. */
export interface DeliveryQuery extends LineFilters {
  /** Null: only lines without a job. */
  readonly job?: string | null | undefined;
  /** ISO 8601; written at or after it. */
  readonly since?: string | undefined;
  /** ISO 8601; written before it. */
  readonly until?: string | undefined;
  /** Excludes accesses, or all operators' actions and accesses. An `actor`, `origin` or `outcome` that selects them has precedence. */
  readonly without?: 'accesses' | 'acts' | undefined;
  /** Only actions of operators, accesses included. */
  readonly only?: 'acts' | undefined;
  /** Only lines that exist for a client with these sources. Default: all. */
  readonly scope?: SourceScope | undefined;
  /** `name=value` of the context. */
  readonly context?: string | undefined;
  /** A context name whose value was left out; excludes `context`. */
  readonly contextOmitted?: string | undefined;
  /** Rows per page, 1 to 500. Default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  /** Aborts the search with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The query of the index. Throws `Problem` `request-invalid` for invalid instants, limits, contexts and cursors. */
export function lineQueryOf(query: DeliveryQuery, lists = listedOrigins(query)): LineQuery {
  const { job, limit = 50, cursor, since, until, scope } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > 500) {
    throw new Problem('request-invalid', 'limit must be a whole number from 1 to 500.');
  }
  return {
    ...lineFiltersOf(query),
    job,
    limit,
    ...instantsOf({ since, until }),
    before: cursor === undefined ? undefined : decodeCursor(cursor),
    without: LEDGER_ORIGINS.filter((each) => !lists(each)),
    context: contextFilterOf(query),
    scope: scope ?? undefined,
  };
}

function contextFilterOf({ context, contextOmitted }: DeliveryQuery): LineQuery['context'] {
  if (context !== undefined) return parseContextFilter(context);
  return contextOmitted === undefined ? undefined : { name: contextOmitted, value: null };
}

/**
 * Whether lines of an origin are listed. Accesses, sign-ins and expiries are listed only when the query selects them or a job. A selected
 * origin is never left out, because an empty list would read as if there were no such lines.
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
  if (origin !== undefined || actor !== undefined || isNonDeliveryOutcome(outcome)) return () => true;
  const isListed = job === undefined ? isDelivery : () => true;
  if (without === undefined) return isListed;
  const isLeftOut = without === 'acts' ? isOperatorAct : (each: string) => each === ACCESS_ORIGIN;
  return (each) => isListed(each) && !isLeftOut(each);
}

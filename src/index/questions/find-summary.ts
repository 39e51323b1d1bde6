import { Problem } from '../../domain/problem.js';
import type { SourceScope } from '../../domain/rights.js';
import { HOUR } from '../../ledger/hours.js';
import { instantOf } from '../../lib/text/instant-of.js';
import type { IndexCalls } from '../index-calls.js';
import type { PeriodSummary } from '../queries/summarise-period.js';

export interface SummaryQuery {
  /** ISO 8601. Default: 24 hours before `until`. */
  readonly since?: string | undefined;
  /** ISO 8601. Default: now. */
  readonly until?: string | undefined;
  /** Number of parts, 1 to 500; there may be fewer. Default 48. */
  readonly buckets?: number | undefined;
  /** Only lines of these sources; null or absent: all lines. */
  readonly scope?: SourceScope | undefined;
}

/** Rejects with `Problem` `request-invalid` for bad instants and numbers, and with `IndexError`. */
export async function findSummary(
  index: IndexCalls,
  query: SummaryQuery,
  now: number,
): Promise<PeriodSummary> {
  // The end is exclusive, and a line of this millisecond counts.
  const until = instantOf('until', query.until) ?? now + 1;
  const since = instantOf('since', query.since) ?? until - 24 * HOUR;
  const { buckets = 48, scope = null } = query;
  if (since >= until) throw new Problem('request-invalid', 'since must be before until.');
  if (!Number.isInteger(buckets) || buckets < 1 || buckets > 500) {
    throw new Problem('request-invalid', 'buckets must be a whole number from 1 to 500.');
  }
  return index.call('summarisePeriod', { since, until, buckets, scope, now });
}

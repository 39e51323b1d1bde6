import { Problem } from '../../../domain/problem.js';
import type { SourceScope } from '../../../domain/rights.js';
import { instantOf } from '../../../text/instant-of.js';
import { DAY } from '../time-ranges.js';
import type { SummaryRange } from './ledger-summary.js';

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

/** Throws `Problem` `request-invalid` for bad instants and numbers. */
export function summaryRange(query: SummaryQuery, now: number): SummaryRange {
  // The end is exclusive, and a line of this millisecond counts.
  const until = instantOf('until', query.until) ?? now + 1;
  const since = instantOf('since', query.since) ?? until - DAY;
  const buckets = query.buckets ?? 48;
  if (since >= until) throw new Problem('request-invalid', 'since must be before until.');
  if (!Number.isInteger(buckets) || buckets < 1 || buckets > 500) {
    throw new Problem('request-invalid', 'buckets must be a whole number from 1 to 500.');
  }
  return { since, until, buckets, scope: query.scope ?? null };
}

import type { LedgerLine } from '../../domain/delivery.js';
import type { FailureCause } from '../../domain/failure-causes.js';
import { FAILURES, isFailure } from '../../domain/failure-rules.js';
import { Problem } from '../../domain/problem.js';
import { type LinesAt, readLinesAt } from '../../ledger/log/read-lines-at.js';
import { decodePlace, encodePlace, pageOf } from '../../lib/text/list-cursor.js';
import type { FailingQuery, FailurePosition } from '../queries/find-failures.js';
import type { QuestionParts } from './find-deliveries.js';

/** Filters of the list of failing jobs; an absent filter matches everything. */
export interface FailureQuery extends Omit<FailingQuery, 'outcome'> {
  readonly outcome?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** The failed line, and when the service deletes the job's results at the latest (ISO 8601). */
export type FailureLine = LedgerLine & { readonly retentionEndsAt: string };

/** Failing jobs. Those whose results the service deletes first come first. */
export interface FoundFailures {
  readonly failures: readonly FailureLine[];
  /** Number of all matching jobs, by outcome. */
  readonly counts: Readonly<Record<string, number>>;
  /** Causes of the jobs that match the other filters: the hundred largest, and the one of the filter. */
  readonly causes: readonly FailureCause[];
  readonly nextCursor: string | null;
}

/**
 * Jobs whose last outcome is a failure. Rejects with `Problem` `request-invalid` for an outcome that is no failure, and for a foreign
 * cursor.
 *
 * @param retention milliseconds that the service keeps a job's results
 */
export async function findOpenFailures(
  { store, index }: QuestionParts,
  { cursor, ...query }: FailureQuery & { readonly since: number },
  retention: number,
): Promise<FoundFailures & Pick<LinesAt, 'unread'>> {
  rejectOtherOutcome(query.outcome);
  const after = cursor === undefined ? null : positionOf(cursor);
  const found = await index.call('failurePage', { ...query, after, limit: query.limit + 1 });
  const { rows: jobs, nextCursor } = pageOf(found.jobs, query.limit, ({ first, job }) =>
    encodePlace('failures', [first, job]),
  );
  const { lines, unread } = await readLinesAt(
    store,
    jobs.map(({ place }) => place),
  );
  return {
    failures: jobs.flatMap(({ first }, at) => {
      const line = lines[at];
      return line ? [{ ...line, retentionEndsAt: new Date(first + retention).toISOString() }] : [];
    }),
    unread,
    counts: found.counts,
    causes: found.causes,
    nextCursor,
  };
}

/** Rejects outcomes that are no failures: the empty list would read as good news. */
function rejectOtherOutcome(outcome: string | undefined): void {
  if (outcome === undefined || isFailure(outcome)) return;
  const known = FAILURES.join(', ');
  throw new Problem('request-invalid', `outcome: ${outcome} is not a failure; failures are ${known}.`);
}

/** Throws `Problem` `request-invalid` for a foreign cursor. */
function positionOf(cursor: string): FailurePosition {
  return decodePlace('failures', cursor, ([first, job]) =>
    typeof first === 'number' && typeof job === 'string' ? [first, job] : null,
  );
}

import { FAILURES, isFailure } from '../../../domain/failure-rules.js';
import { Problem } from '../../../domain/problem.js';
import type { SourceScope } from '../../../domain/rights.js';
import { isStillTried } from '../../../domain/still-tried.js';
import type { LedgerRow } from '../window/ledger-row.js';
import { rowScope } from '../window/row-scope.js';
import type { RowWindow } from '../window/row-window.js';
import type { FailureHistory, FailureScope } from './failure-history.js';

/** Filters of the list of failing jobs; an absent filter matches everything. */
export interface FailureQuery {
  readonly outcome?: string | undefined;
  readonly source?: string | undefined;
  readonly region?: string | undefined;
  /** Milliseconds since the epoch; failed at or after it. */
  readonly since?: number | undefined;
  /** Milliseconds since the epoch; without the rejected callbacks that the service is still trying then. */
  readonly givenUpBy?: number | undefined;
  /** Only failures that exist for a client with these sources. Default: all. */
  readonly scope?: SourceScope | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A job whose last outcome is a failure. */
interface OpenFailure {
  /** The failed line. */
  readonly row: LedgerRow;
  /**
   * When the service drops the job's results, at the latest, in milliseconds since the epoch: the job was created before
   * its first line.
   */
  readonly retentionEnds: number;
}

/** Jobs whose last outcome is a failure. */
export interface OpenFailures extends FailureScope {
  /** The page. Jobs whose results the service drops first come first. */
  readonly failures: readonly OpenFailure[];
  /** Number of all matching jobs, by outcome. */
  readonly counts: Readonly<Record<string, number>>;
  readonly nextCursor: string | null;
}

export interface FailureSources {
  readonly window: RowWindow;
  readonly history: Pick<FailureHistory, 'jobs' | 'scope'>;
  /** Milliseconds the service keeps a job's results. */
  readonly retention: number;
}

/** Throws `Problem` `request-invalid` for an outcome that is no failure, and for a foreign cursor. */
export function findOpenFailures(
  { window, history, retention }: FailureSources,
  query: FailureQuery,
): OpenFailures {
  // Other outcomes of the ledger match nothing here; an empty list would read as good news.
  if (query.outcome !== undefined && !isFailure(query.outcome)) {
    const known = FAILURES.join(', ');
    throw new Problem(
      'request-invalid',
      `outcome: ${query.outcome} is not a failure; failures are ${known}.`,
    );
  }
  const exists = rowScope(window, query.scope ?? null);
  const open: OpenFailure[] = [];
  for (const { rows, first } of history.jobs().values()) {
    const visible = rows.filter(exists);
    const row = newest(visible.filter(({ outcome }) => outcome === 'conflict')) ?? newest(visible);
    if (row !== undefined && matches(row, query)) open.push({ row, retentionEnds: first + retention });
  }
  return { ...pageOf(open.sort(comparePositions), query), ...history.scope(query.scope ?? null) };
}

function newest(rows: readonly LedgerRow[]): LedgerRow | undefined {
  return rows.toSorted((a, b) => b.received - a.received)[0];
}

function matches(row: LedgerRow, { outcome, source, region, since, givenUpBy }: FailureQuery): boolean {
  return (
    (givenUpBy === undefined || row.outcome !== 'refused' || !isStillTried(row, givenUpBy)) &&
    (outcome === undefined || row.outcome === outcome) &&
    (source === undefined || row.source === source) &&
    (region === undefined || row.region === region) &&
    (since === undefined || row.received >= since)
  );
}

type Position = readonly [retentionEnds: number, jobId: string];

const positionOf = ({ row, retentionEnds }: OpenFailure): Position => [retentionEnds, row.job ?? ''];

function comparePositions(a: OpenFailure, b: OpenFailure): number {
  return compare(positionOf(a), positionOf(b));
}

function compare([endA, jobA]: Position, [endB, jobB]: Position): number {
  if (endA !== endB) return endA - endB;
  return jobA === jobB ? 0 : jobA < jobB ? -1 : 1;
}

/** A cursor names a position in the order, so that pages stay right while failures come and go. */
function pageOf(
  open: readonly OpenFailure[],
  { cursor, limit }: FailureQuery,
): Omit<OpenFailures, keyof FailureScope> {
  const after = cursor === undefined ? null : decodePosition(cursor);
  const rest = after === null ? open : open.filter((failure) => compare(positionOf(failure), after) > 0);
  const failures = rest.slice(0, limit);
  const last = failures.at(-1);
  const more = last !== undefined && rest.length > failures.length;
  return {
    failures,
    counts: countOutcomes(open),
    nextCursor: more ? Buffer.from(JSON.stringify(positionOf(last))).toString('base64url') : null,
  };
}

/** Throws `Problem` `request-invalid` for a cursor that `pageOf` did not make. */
function decodePosition(cursor: string): Position {
  try {
    const [end, job] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof end === 'number' && typeof job === 'string') return [end, job];
  } catch {
    // Falls through to the error for every bad cursor.
  }
  throw new Problem('request-invalid', 'The cursor is not one this API gave out.');
}

function countOutcomes(open: readonly OpenFailure[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { row } of open) counts.set(row.outcome, (counts.get(row.outcome) ?? 0) + 1);
  return Object.fromEntries(counts);
}

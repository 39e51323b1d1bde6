import {
  FAILURE_KINDS,
  FAILURES,
  failureKind,
  isFailure,
  type OfKind,
  settles,
} from '../domain/failure-rules.js';
import { Problem } from '../domain/problem.js';
import type { SourceScope } from '../domain/rights.js';
import type { FailureScope } from './failure-history.js';
import type { LedgerRow } from './ledger-row.js';
import type { PastFailures } from './past-failures.js';
import { rowScope } from './row-scope.js';
import { type RowWindow, snapshotOf, visitRows } from './row-window.js';

/** Filters of the list of failing jobs; an absent filter matches everything. */
export interface FailureQuery {
  readonly outcome?: string | undefined;
  readonly source?: string | undefined;
  readonly region?: string | undefined;
  /** Milliseconds since the epoch; failed at or after it. */
  readonly since?: number | undefined;
  /** Only failures that exist for a client with these sources. Default: all. */
  readonly scope?: SourceScope | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A job whose last outcome is a failure. */
export interface OpenFailure {
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
  /** Failures of the time before the window. */
  readonly past: PastFailures;
  readonly scope: (sources: SourceScope) => FailureScope;
}

/**
 * Joins the failures of the past with the rows in memory. A failure that was settled since is left out. Takes some 200
 * bytes for each failing job of the window, which bounds their number.
 *
 * @param retention milliseconds the service keeps a job's results
 */
export async function findOpenFailures(
  { window, past, scope }: FailureSources,
  query: FailureQuery,
  retention: number,
): Promise<OpenFailures> {
  // Other outcomes of the ledger match nothing here; an empty list would read as good news.
  if (query.outcome !== undefined && !isFailure(query.outcome)) {
    const known = FAILURES.join(', ');
    throw new Problem(
      'request-invalid',
      `outcome: ${query.outcome} is not a failure; failures are ${known}.`,
    );
  }
  // Of one moment: rows move from the window to the past.
  const rows = snapshotOf(window);
  const failing = new Map<string, Candidate>();
  const exists = rowScope(window, query.scope ?? null);
  for (const [job, { first, failures }] of past.jobs) {
    const existing = Object.entries(failures).flatMap(([kind, { row }]) =>
      exists(row) ? [[kind, row]] : [],
    );
    failing.set(job, { first, rows: Object.fromEntries(existing) });
  }
  await visitRows(rows, (row) => {
    if (row.job === null) return;
    const known = failing.get(row.job);
    if (known !== undefined) known.first = Math.min(known.first, row.time);
    if (!isFailure(row.outcome) || !exists(row)) return;
    const candidate: Candidate = known ?? { first: row.time, rows: {} };
    const kind = failureKind(row.outcome);
    const last = candidate.rows[kind];
    if (last === undefined || last.time < row.time) candidate.rows[kind] = row;
    failing.set(row.job, candidate);
  });
  if (failing.size > 0) {
    await visitRows(rows, (row) => {
      const candidate = row.job === null ? undefined : failing.get(row.job);
      if (candidate === undefined) return;
      for (const kind of FAILURE_KINDS) {
        const failed = candidate.rows[kind];
        if (failed !== undefined && settles(row, failed)) delete candidate.rows[kind];
      }
    });
  }
  const open = [...failing.values()]
    .flatMap(({ rows, first }) => {
      const row = rows.conflict ?? newest(rows.failure, rows.refusal);
      return row === undefined || !matches(row, query) ? [] : [{ row, retentionEnds: first + retention }];
    })
    .sort(comparePositions);
  return { ...pageOf(open, query), ...scope(query.scope ?? null) };
}

/** The newest lines of a job that may be open, and the time of its oldest line. */
interface Candidate {
  first: number;
  readonly rows: OfKind<LedgerRow>;
}

function newest(one: LedgerRow | undefined, other: LedgerRow | undefined): LedgerRow | undefined {
  return one === undefined || (other !== undefined && other.time >= one.time) ? other : one;
}

function matches(row: LedgerRow, { outcome, source, region, since }: FailureQuery): boolean {
  return (
    (outcome === undefined || row.outcome === outcome) &&
    (source === undefined || row.source === source) &&
    (region === undefined || row.region === region) &&
    (since === undefined || row.time >= since)
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

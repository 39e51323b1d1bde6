import { setImmediate as immediate } from 'node:timers/promises';
import { Problem } from '../domain/problem.js';
import type { LedgerRow } from './ledger-row.js';
import type { RowWindow } from './row-window.js';

/** Filters of the list of failing jobs; absent ones let everything pass. */
export interface FailureQuery {
  readonly outcome?: string | undefined;
  readonly source?: string | undefined;
  readonly region?: string | undefined;
  /** Milliseconds since the epoch; failed at or after it. */
  readonly since?: number | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A job whose last word is a failure. */
export interface OpenFailure {
  /** The line that failed. */
  readonly row: LedgerRow;
  /**
   * Milliseconds since the epoch when the service drops the job's results, at the latest: the job was made before the
   * first line that names it.
   */
  readonly retentionEnds: number;
}

/** Jobs whose last word is a failure. */
export interface OpenFailures {
  /** The page asked for: what the service drops first comes first. */
  readonly failures: readonly OpenFailure[];
  /** All that match the filters, by outcome. */
  readonly counts: Readonly<Record<string, number>>;
  readonly nextCursor: string | null;
}

const FAILURES: ReadonlySet<string> = new Set(['failed', 'unrecoverable', 'refused', 'conflict']);
/** What an operator, or a delivery, settles a failure with. */
const REPAIRS = new Set(['stored', 'duplicate', 'recovered', 'released', 'erased', 'acknowledged']);
/** Jobs looked after at once; a sender that is rejected all day long brings more. */
const MAX_JOBS = 10_000;
/** Rows between two turns of the event loop: some 5 ms. */
const SLICE = 20_000;

/**
 * Looks through what is in memory. The ledger records failures line by line; one that was repaired since is
 * no failure any more. Only a person settles a conflict, by erasing or acknowledging it: somebody has to decide
 * between the two.
 *
 * @param retention milliseconds the service keeps a job's results
 */
export async function findOpenFailures(
  window: RowWindow,
  query: FailureQuery,
  retention: number,
): Promise<OpenFailures> {
  // Other outcomes are names of the ledger, too; an empty list of them would read as good news.
  if (query.outcome !== undefined && !FAILURES.has(query.outcome)) {
    const known = [...FAILURES].join(', ');
    throw new Problem('request-invalid', `outcome: ${query.outcome} is no failure; failures are ${known}.`);
  }
  const failing = new Map<string, Candidate>();
  await eachRow(window, (row) => {
    if (row.job === null) return;
    const known = failing.get(row.job);
    if (known !== undefined) known.first = row.time;
    if (!FAILURES.has(row.outcome)) return;
    const candidate = known ?? { first: row.time, failure: null, conflict: null };
    if (row.outcome === 'conflict') candidate.conflict ??= row;
    else candidate.failure ??= row;
    if (failing.size < MAX_JOBS) failing.set(row.job, candidate);
  });
  if (failing.size > 0) {
    await eachRow(window, (row) => {
      const candidate = row.job === null ? undefined : failing.get(row.job);
      if (candidate === undefined) return;
      if (repairs(row, candidate.failure)) candidate.failure = null;
      if (decides(row, candidate.conflict)) candidate.conflict = null;
    });
  }
  const open = [...failing.values()]
    .flatMap(({ conflict, failure, first }) => {
      const row = conflict ?? failure;
      return row === null || !matches(row, query) ? [] : [{ row, retentionEnds: first + retention }];
    })
    .sort(comparePlaces);
  return pageOf(open, query);
}

/** The newest lines of a job that may be open, and the time of its oldest line. */
interface Candidate {
  first: number;
  failure: LedgerRow | null;
  conflict: LedgerRow | null;
}

function repairs({ outcome, time }: LedgerRow, failure: LedgerRow | null): boolean {
  if (failure === null || time < failure.time) return false;
  // A callback without a body repairs nothing that is missing, but it answers one that was rejected.
  return outcome === 'noted' ? failure.outcome === 'refused' : REPAIRS.has(outcome);
}

function decides({ outcome, time }: LedgerRow, conflict: LedgerRow | null): boolean {
  return conflict !== null && time >= conflict.time && (outcome === 'erased' || outcome === 'acknowledged');
}

function matches(row: LedgerRow, { outcome, source, region, since }: FailureQuery): boolean {
  return (
    (outcome === undefined || row.outcome === outcome) &&
    (source === undefined || row.source === source) &&
    (region === undefined || row.region === region) &&
    (since === undefined || row.time >= since)
  );
}

type Place = readonly [retentionEnds: number, jobId: string];

const placeOf = ({ row, retentionEnds }: OpenFailure): Place => [retentionEnds, row.job ?? ''];

function comparePlaces(a: OpenFailure, b: OpenFailure): number {
  return compare(placeOf(a), placeOf(b));
}

function compare([endA, jobA]: Place, [endB, jobB]: Place): number {
  if (endA !== endB) return endA - endB;
  return jobA === jobB ? 0 : jobA < jobB ? -1 : 1;
}

/** A cursor names a place: pages stay right while failures come and go. */
function pageOf(open: readonly OpenFailure[], { cursor, limit }: FailureQuery): OpenFailures {
  const after = cursor === undefined ? null : decodePlace(cursor);
  const rest = after === null ? open : open.filter((failure) => compare(placeOf(failure), after) > 0);
  const failures = rest.slice(0, limit);
  const last = failures.at(-1);
  const more = last !== undefined && rest.length > failures.length;
  return {
    failures,
    counts: countOutcomes(open),
    nextCursor: more ? Buffer.from(JSON.stringify(placeOf(last))).toString('base64url') : null,
  };
}

/** Throws `Problem` `request-invalid` for what this module did not make. */
function decodePlace(cursor: string): Place {
  try {
    const [end, job] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof end === 'number' && typeof job === 'string') return [end, job];
  } catch {
    // Falls through to the one answer for every bad cursor.
  }
  throw new Problem('request-invalid', 'The cursor is not one this API gave out.');
}

function countOutcomes(open: readonly OpenFailure[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { row } of open) counts.set(row.outcome, (counts.get(row.outcome) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** Newest first. */
async function eachRow(window: RowWindow, visit: (row: LedgerRow) => void): Promise<void> {
  let seen = 0;
  for (const { rows } of window.hoursBefore()) {
    for (let index = rows.length - 1; index >= 0; index -= 1) {
      const row = rows[index];
      if (row) visit(row);
      seen += 1;
      if (seen % SLICE === 0) await immediate();
    }
  }
}

import type { DatabaseSync } from 'node:sqlite';
import { type FailureCause, failureCauses } from '../../domain/failure-causes.js';
import { isReasonCode } from '../../domain/reasons.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import { isStillTried } from '../../domain/still-tried.js';
import { comparePlaces } from '../../ledger/log/line-place.js';
import type { PlacedLine } from '../../ledger/log/read-lines-at.js';
import type { LineClass, LineClasses } from '../line-classes.js';
import { JOIN_PLACE, PLACE, placeOfRow } from '../line-places.js';

/** Which failing jobs are wanted; an absent filter matches everything. */
export interface FailingQuery {
  readonly outcome?: string | undefined;
  readonly source?: string | undefined;
  readonly region?: string | undefined;
  /** Failed at or after it, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Without the rejected callbacks that the service is still trying then, in milliseconds since the epoch. */
  readonly givenUpBy?: number | undefined;
  /** Only failures that exist for a client with these sources. Default: all. */
  readonly scope?: SourceScope | undefined;
}

/** A job whose last outcome is a failure. */
export interface IndexedFailure {
  readonly job: string;
  /** The line that makes it fail. */
  readonly place: PlacedLine;
  readonly outcome: string;
  readonly source: string | null;
  readonly region: string | null;
  readonly reason: string | null;
  readonly bytes: number;
  /** Receipt of the failing line and of the first line of the job, in milliseconds since the epoch. */
  readonly received: number;
  readonly first: number;
}

/** All failing jobs that match; those whose results the service deletes first come first. */
export function findFailures(
  database: DatabaseSync,
  classes: LineClasses,
  query: FailingQuery = {},
): IndexedFailure[] {
  const rows = database.prepare(
    `SELECT l.job, l.class, l.received, l.first, l.reason, l.bytes, ${PLACE}
     FROM (SELECT *, line AS id FROM failures) l ${JOIN_PLACE.replace('l.id', 'l.line')}`,
  );
  const jobs = new Map<string, IndexedFailure>();
  for (const row of rows.iterate()) {
    const lineClass = classes.byId(Number(row.class));
    if (!isInScope(query.scope ?? null, lineClass.source)) continue;
    const failing = failingJob(row, lineClass);
    const known = jobs.get(failing.job);
    if (known === undefined || counts(failing, known)) jobs.set(failing.job, failing);
  }
  return [...jobs.values()].filter((each) => matches(each, query)).sort(byRetention);
}

/** Causes of failing jobs with their number; the largest first. */
export function causesOf(jobs: readonly IndexedFailure[]): FailureCause[] {
  return failureCauses(jobs.map((job) => ({ ...job, receivedAt: new Date(job.received).toISOString() })));
}

function failingJob(
  row: Readonly<Record<string, unknown>>,
  { outcome, source, region }: LineClass,
): IndexedFailure {
  return {
    job: String(row.job),
    place: placeOfRow(row),
    ...{ outcome, source, region },
    reason: row.reason === null ? null : String(row.reason),
    bytes: Number(row.bytes),
    received: Number(row.received),
    first: Number(row.first),
  };
}

/** Whether a failing line of a job counts before another: a conflict does, which only an operator settles; else the newer one. */
function counts(a: IndexedFailure, b: IndexedFailure): boolean {
  const [isConflict, wasConflict] = [a, b].map(({ outcome }) => outcome === 'conflict');
  if (isConflict !== wasConflict) return isConflict === true;
  return a.received - b.received > 0 || (a.received === b.received && comparePlaces(a.place, b.place) > 0);
}

function matches(job: IndexedFailure, { outcome, source, region, since, givenUpBy }: FailingQuery): boolean {
  const { reason, received } = job;
  const rejected = { reason: isReasonCode(reason) ? reason : null, received };
  return (
    (givenUpBy === undefined || job.outcome !== 'refused' || !isStillTried(rejected, givenUpBy)) &&
    (outcome === undefined || job.outcome === outcome) &&
    (source === undefined || job.source === source) &&
    (region === undefined || job.region === region) &&
    (since === undefined || received >= since)
  );
}

function byRetention(a: IndexedFailure, b: IndexedFailure): number {
  return a.first - b.first || (a.job < b.job ? -1 : 1);
}

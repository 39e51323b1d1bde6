import type { DatabaseSync } from 'node:sqlite';
import { causeOf, type FailureCause } from '../../domain/failure-causes.js';
import type { LineClasses } from '../line-classes.js';
import { causesOf, type FailingQuery, findFailures, type IndexedFailure } from './find-failures.js';

/** A failing job in the order of the list: receipt of its first line in milliseconds since the epoch, and its id. */
export type FailurePosition = readonly [first: number, job: string];

export interface FailurePageQuery extends FailingQuery {
  /** Only failures with this cause. */
  readonly cause?: string | undefined;
  readonly limit: number;
  /** A cursor: only jobs behind this position. */
  readonly after: FailurePosition | null;
}

export interface FailingJobsQuery extends FailingQuery {
  /** Only failures with this cause. */
  readonly cause?: string | undefined;
  /** An outcome that is left out. */
  readonly without?: string | undefined;
}

export interface IndexedFailurePage {
  readonly jobs: readonly IndexedFailure[];
  /** Number of all matching jobs, by outcome. */
  readonly counts: Readonly<Record<string, number>>;
  /** Causes of all jobs that match but for the cause. */
  readonly causes: readonly FailureCause[];
  readonly next: FailurePosition | null;
}

/** A page of the failing jobs; those whose results the service deletes first come first. */
export function failurePage(
  database: DatabaseSync,
  classes: LineClasses,
  { cause, limit, after, ...query }: FailurePageQuery,
): IndexedFailurePage {
  const all = findFailures(database, classes, query);
  const matching = cause === undefined ? all : all.filter((each) => causeOf(each) === cause);
  const rest = after === null ? matching : matching.filter((each) => isBehind(each, after));
  const jobs = rest.slice(0, limit);
  const last = jobs.at(-1);
  const counts = new Map<string, number>();
  for (const { outcome } of matching) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return {
    jobs,
    counts: Object.fromEntries(counts),
    causes: causesOf(all),
    next: last !== undefined && rest.length > jobs.length ? [last.first, last.job] : null,
  };
}

function isBehind({ first, job }: IndexedFailure, [lastFirst, lastJob]: FailurePosition): boolean {
  return first > lastFirst || (first === lastFirst && job > lastJob);
}

export interface FailingJobs {
  /** Ids, in the order of the list. */
  readonly jobs: readonly string[];
  /** Of all failing lines. */
  readonly bytes: number;
}

/** All failing jobs that match. */
export function failingJobs(
  database: DatabaseSync,
  classes: LineClasses,
  { cause, without, ...query }: FailingJobsQuery,
): FailingJobs {
  const matching = findFailures(database, classes, query).filter(
    (each) => each.outcome !== without && (cause === undefined || causeOf(each) === cause),
  );
  return {
    jobs: matching.map(({ job }) => job),
    bytes: matching.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

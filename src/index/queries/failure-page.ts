import type { DatabaseSync } from 'node:sqlite';
import { causeOf, type FailureCause, failureCauses } from '../../domain/failure-causes.js';
import { settles } from '../../domain/failure-rules.js';
import { writeInstant } from '../../lib/time/instant.js';
import { idsOf, type LineClass, type LineClasses } from '../line-classes.js';
import type { ReadableIndex } from '../readable-index.js';
import {
  type FailingQuery,
  type FailuresQuery,
  failingLines,
  findFailures,
  type IndexedFailure,
} from './find-failures.js';

export interface IndexedFailurePage {
  readonly jobs: readonly IndexedFailure[];
  /** Number of all matching jobs, by outcome. */
  readonly counts: Readonly<Record<string, number>>;
  /** Causes of the jobs that match all filters except the cause: the hundred largest, and the one of the filter. */
  readonly causes: readonly FailureCause[];
}

/** Upper bound, because each job can have a cause of its own: free text of the service that names something else than the job. */
const MAX_CAUSES = 100;

/** A page of the failing jobs; those whose results the service deletes first come first. */
export function failurePage(index: ReadableIndex, query: FailuresQuery): IndexedFailurePage {
  const { database, classes } = index;
  const groups = failureGroups(database, classes, query);
  const counts = new Map<string, number>();
  for (const group of groups)
    if (query.cause === undefined || causeOf(group) === query.cause)
      counts.set(group.outcome, (counts.get(group.outcome) ?? 0) + group.count);
  return {
    jobs: findFailures(index, query),
    counts: Object.fromEntries(counts),
    causes: failureCauses(groups).filter(({ code }, at) => at < MAX_CAUSES || code === query.cause),
  };
}

/** Failing jobs that match all filters except the cause, grouped by class and reason. */
function failureGroups(database: DatabaseSync, classes: LineClasses, query: FailingQuery) {
  const { from, values } = failingLines(classes, { ...query, cause: undefined });
  const rows = database.prepare(
    `SELECT f.class, f.reason, count(*) AS count, min(f.received) AS first, max(f.received) AS last ${from}
     GROUP BY f.class, f.reason`,
  );
  return rows.all(...values).map((row) => {
    const { outcome, source } = classes.byId(Number(row.class));
    return {
      outcome,
      source,
      reason: row.reason === null ? null : String(row.reason),
      count: Number(row.count),
      first: writeInstant(Number(row.first)),
      last: writeInstant(Number(row.last)),
    };
  });
}

export interface FailingJobs {
  /** Ids, in the order of the list. */
  readonly jobs: readonly string[];
  /** Bytes of all failing lines. */
  readonly bytes: number;
}

/** All failing jobs that match. */
export function failingJobs({ database, classes }: ReadableIndex, query: FailingQuery): FailingJobs {
  const { from, values } = failingLines(classes, query);
  const rows = database.prepare(`SELECT f.job, f.bytes ${from} ORDER BY f.first, f.job`).all(...values);
  return {
    jobs: rows.map(({ job }) => String(job)),
    bytes: rows.reduce((sum, { bytes }) => sum + Number(bytes), 0),
  };
}

export interface MissedQuery {
  /** Jobs that a reconcile missed. */
  readonly jobs: readonly string[];
  /** Milliseconds since the epoch. What was stored before had been lost. */
  readonly since: number;
}

export interface MissedJobs {
  /** Those whose results arrived since, and those whose loss an operator accepted at any time. */
  readonly settled: readonly string[];
  /** Number of those that have an open failure. */
  readonly failing: number;
}

/** What the ledger says of jobs that a reconcile missed. */
export function missedJobs({ database, classes }: ReadableIndex, { jobs, since }: MissedQuery): MissedJobs {
  const repairs = classes.all().filter(isRepair);
  // The plus keeps SQLite from seeking each class of a job instead of reading its few lines.
  const rows = database.prepare(
    `SELECT j.value AS job, EXISTS (SELECT 1 FROM failures f WHERE f.job = j.value) AS failing,
       EXISTS (SELECT 1 FROM lines l WHERE l.job = j.value AND +l.class IN (${idsOf(repairs)})
         AND (l.received >= ? OR l.class IN (${idsOf(repairs.filter(isAccepted))}))) AS repaired FROM json_each(?) j`,
  );
  const found = rows.all(since, JSON.stringify(jobs));
  return {
    settled: found.flatMap(({ job, failing, repaired }) => (repaired && !failing ? [String(job)] : [])),
    failing: found.filter(({ failing }) => failing).length,
  };
}

function isRepair({ outcome }: LineClass): boolean {
  return settles({ outcome, time: 0 }, { outcome: 'failed', time: 0 });
}

function isAccepted({ outcome }: LineClass): boolean {
  return outcome === 'acknowledged' || outcome === 'erased';
}

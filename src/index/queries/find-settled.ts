import type { DatabaseSync } from 'node:sqlite';
import { settles } from '../../domain/failure-rules.js';
import { idsOf, type LineClass, type LineClasses } from '../line-classes.js';

export interface SettledQuery {
  /** Jobs that a reconcile missed. */
  readonly jobs: readonly string[];
  /** Milliseconds since the epoch: what was stored before was not there any more. */
  readonly since: number;
}

/** Those of the jobs whose results came since, and those whose loss an operator accepted at any time. */
export function findSettled(
  database: DatabaseSync,
  classes: LineClasses,
  { jobs, since }: SettledQuery,
): string[] {
  const repairs = classes.all().filter(isRepair);
  // The plus keeps SQLite from looking for each class of a job instead of reading its few lines.
  const rows = database.prepare(
    `SELECT j.value AS job FROM json_each(?) j WHERE EXISTS (SELECT 1 FROM lines l WHERE l.job = j.value
       AND +l.class IN (${idsOf(repairs)}) AND (l.received >= ? OR l.class IN (${idsOf(repairs.filter(isAccepted))})))
     AND NOT EXISTS (SELECT 1 FROM failures f WHERE f.job = j.value)`,
  );
  return rows.all(JSON.stringify(jobs), since).map(({ job }) => String(job));
}

function isRepair({ outcome }: LineClass): boolean {
  return settles({ outcome, time: 0 }, { outcome: 'failed', time: 0 });
}

function isAccepted({ outcome }: LineClass): boolean {
  return outcome === 'acknowledged' || outcome === 'erased';
}

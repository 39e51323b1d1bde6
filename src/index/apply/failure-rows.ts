import type { DatabaseSync } from 'node:sqlite';
import type { LedgerLine } from '../../domain/delivery.js';
import { commonReason } from '../../domain/failure-causes.js';
import { isFailure, settles } from '../../domain/failure-rules.js';
import type { LineSpan } from '../../ledger/parse-segment.js';
import type { LineClass, LineClasses } from '../line-classes.js';
import { orderOf } from '../line-places.js';
import { createClassesOfJob } from './classes-of-job.js';
import { numberOf } from './figure-sums.js';

/** A line of a job. */
export interface JobLine {
  readonly id: number;
  readonly lineClass: LineClass;
  readonly job: string;
  /** Milliseconds since the epoch. */
  readonly received: number;
}

/** `begun`: when the callback of the line was expected; the receipt of the line when it does not say so. */
type FailureLine = JobLine & LineSpan & { readonly begun: number };

/** Longest stored reason; the line itself has all of it. */
const MAX_REASON = 500;

/** Maintains the failing lines that no line of their job settles, independently of the order of lines. */
export function createFailureRows(database: DatabaseSync, classes: LineClasses) {
  const failuresOfJob = database.prepare('SELECT class, received, first FROM failures WHERE job = ?');
  const lastOfClass = database.prepare('SELECT max(received) AS last FROM lines WHERE job = ? AND class = ?');
  const firstOfClass = database.prepare(
    'SELECT min(received) AS first FROM lines WHERE job = ? AND class = ?',
  );
  const firstDueOfClass = database.prepare('SELECT min(due) AS first FROM lines WHERE job = ? AND class = ?');
  const remove = database.prepare('DELETE FROM failures WHERE job = ? AND class = ?');
  const moveFirst = database.prepare('UPDATE failures SET first = ? WHERE job = ?');
  const save = database.prepare('INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  // For equal times the line that is later in the log counts.
  const findNewer = database.prepare(
    `SELECT 1 FROM failures f WHERE f.job = ?1 AND f.class = ?2 AND (f.received > ?3
       OR (f.received = ?3 AND ${orderOf('f.line')} > ${orderOf('CAST(?4 AS INTEGER)')}))`,
  );

  const classesOf = createClassesOfJob(database, classes);

  function isSettled({ job, lineClass, received }: JobLine): boolean {
    const failing = { outcome: lineClass.outcome, time: received };
    for (const { id, outcome } of classesOf(job)) {
      const time = Number(lastOfClass.get(job, id)?.last);
      if (settles({ outcome, time }, failing)) return true;
    }
    return false;
  }

  function firstOf(job: string): number {
    const times = [...classesOf(job)].map(({ id, origin }) => {
      // Only lines of recoveries say when a callback was expected, and a job has few of them.
      const statement = origin === 'recovery' ? firstDueOfClass : firstOfClass;
      return Number(statement.get(job, id)?.first);
    });
    return Math.min(...times);
  }

  /** Whether the index has a newer failing line of the class. */
  function isOlder({ job, lineClass, id, received }: JobLine): boolean {
    return findNewer.get(job, lineClass.id, received, id) !== undefined;
  }

  return {
    /** Call it after the line was added. */
    add(line: FailureLine, { reason, bytes }: Pick<LedgerLine, 'reason' | 'bytes'>): void {
      const { id, lineClass, job, received, begun } = line;
      const known = failuresOfJob.all(job);
      const first = known[0] === undefined ? null : Number(known[0].first);
      if (first !== null && begun < first) moveFirst.run(begun, job);
      for (const row of known) {
        const failing = { outcome: classes.byId(Number(row.class)).outcome, time: Number(row.received) };
        if (settles({ outcome: lineClass.outcome, time: received }, failing))
          remove.run(job, Number(row.class));
      }
      if (!isFailure(lineClass.outcome) || isSettled(line) || isOlder(line)) return;
      const text = typeof reason === 'string' ? commonReason(reason, job).slice(0, MAX_REASON) : null;
      save.run(
        job,
        lineClass.id,
        id,
        received,
        Math.min(first ?? firstOf(job), begun),
        text,
        numberOf(bytes),
        line.start,
        line.length,
      );
    },
  };
}

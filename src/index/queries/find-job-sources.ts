import type { DatabaseSync } from 'node:sqlite';
import type { LineClasses } from '../line-classes.js';

/** The sources that a job has lines of. */
export function findJobSources(database: DatabaseSync, classes: LineClasses, job: string): string[] {
  const rows = database.prepare('SELECT DISTINCT class FROM lines WHERE job = ?').all(job);
  return [...new Set(rows.flatMap((row) => classes.byId(Number(row.class)).source ?? []))];
}

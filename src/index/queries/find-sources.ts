import type { AskedIndex } from '../asked-index.js';

/** The sources that a job has lines of. */
export function findSources({ database, classes }: AskedIndex, job: string): string[] {
  const rows = database.prepare('SELECT DISTINCT class FROM lines WHERE job = ?').all(job);
  return [...new Set(rows.flatMap((row) => classes.byId(Number(row.class)).source ?? []))];
}

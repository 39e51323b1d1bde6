import type { ReadableIndex } from '../readable-index.js';

/** The sources of a job's lines. */
export function findSources({ database, classes }: ReadableIndex, job: string): string[] {
  const rows = database.prepare('SELECT DISTINCT class FROM lines WHERE job = ?').all(job);
  return [...new Set(rows.flatMap((row) => classes.byId(Number(row.class)).source ?? []))];
}

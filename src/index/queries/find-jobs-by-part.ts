import { ACCESS_ORIGIN } from '../../domain/delivery.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { AskedIndex } from '../asked-index.js';
import { idsOf } from '../line-classes.js';

export interface FoundJob {
  readonly job: string;
  /** Receipt of its last line that is not an access, in milliseconds since the epoch. */
  readonly received: number;
}

/** Jobs whose id contains a text, in whatever case, those with the newest lines first. */
export function findJobsByPart(
  { database, classes }: AskedIndex,
  {
    part,
    limit,
    scope = null,
  }: { readonly part: string; readonly limit: number; readonly scope?: SourceScope },
): FoundJob[] {
  const wanted = classes
    .all()
    .filter(({ origin, source }) => origin !== ACCESS_ORIGIN && isInScope(scope, source));
  // The plus keeps SQLite in the index of jobs, which has all columns: by class it would look up each line.
  return database
    .prepare(
      `SELECT job, max(received) AS received FROM lines
       WHERE job IS NOT NULL AND job LIKE ? ESCAPE '\\' AND +class IN (${idsOf(wanted)})
       GROUP BY job ORDER BY 2 DESC, job LIMIT ?`,
    )
    .all(`%${part.replaceAll(/[%_\\]/g, '\\$&')}%`, limit)
    .map(({ job, received }) => ({ job: String(job), received: Number(received) }));
}

import { ACCESS_ORIGIN } from '../../domain/delivery.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { AskedIndex } from '../asked-index.js';
import { idsOf } from '../line-classes.js';

/** The jobs whose id contains a text, in whatever case. Those with the newest lines come first; accesses do not count. */
export function findJobsByPart(
  { database, classes }: AskedIndex,
  {
    part,
    limit,
    scope = null,
  }: { readonly part: string; readonly limit: number; readonly scope?: SourceScope },
): string[] {
  const wanted = classes
    .all()
    .filter(({ origin, source }) => origin !== ACCESS_ORIGIN && isInScope(scope, source));
  // The plus keeps SQLite in the index of jobs, which has all columns: by class it would look up each line.
  return database
    .prepare(
      `SELECT job FROM lines
       WHERE job IS NOT NULL AND job LIKE ? ESCAPE '\\' AND +class IN (${idsOf(wanted)})
       GROUP BY job ORDER BY max(received) DESC, job LIMIT ?`,
    )
    .all(`%${part.replaceAll(/[%_\\]/g, '\\$&')}%`, limit)
    .map(({ job }) => String(job));
}

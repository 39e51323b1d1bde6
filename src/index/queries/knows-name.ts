import type { NamedFilter } from '../../domain/line-filters.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { AskedIndex } from '../asked-index.js';
import { idsOf } from '../line-classes.js';

/** Whether a line that exists for a client was ever in the index with this value; for `context`, whether one is there that has the name. */
export function knowsName(
  { database, classes }: AskedIndex,
  field: NamedFilter | 'context',
  value: string,
  scope: SourceScope = null,
): boolean {
  const known = classes.all().filter(({ source }) => isInScope(scope, source));
  if (field !== 'context') return known.some((each) => each[field] === value);
  const named = `SELECT 1 FROM context_lines WHERE name = ? AND class IN (${idsOf(known)}) LIMIT 1`;
  return database.prepare(named).get(value) !== undefined;
}

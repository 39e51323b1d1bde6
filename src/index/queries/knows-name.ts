import type { NamedFilter } from '../../domain/line-filters.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import { idsOf } from '../line-classes.js';
import type { ReadableIndex } from '../readable-index.js';

/** Whether the index ever had a line with this value that exists for a client; for `context`, whether it has one with this name. */
export function knowsName(
  { database, classes }: ReadableIndex,
  field: NamedFilter | 'context',
  value: string,
  scope: SourceScope = null,
): boolean {
  const known = classes.all().filter(({ source }) => isInScope(scope, source));
  if (field !== 'context') return known.some((each) => each[field] === value);
  const named = `SELECT 1 FROM context_lines WHERE name = ? AND class IN (${idsOf(known)}) LIMIT 1`;
  return database.prepare(named).get(value) !== undefined;
}

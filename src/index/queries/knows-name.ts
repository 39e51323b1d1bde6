import type { NamedFilter } from '../../domain/line-filters.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { AskedIndex } from '../asked-index.js';

/** Whether a line that exists for a client was ever in the index with this value. */
export function knowsName(
  { classes }: AskedIndex,
  field: NamedFilter,
  value: string,
  scope: SourceScope = null,
): boolean {
  return classes.all().some((each) => each[field] === value && isInScope(scope, each.source));
}

import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { AskedIndex } from '../asked-index.js';

/** The fields whose values are names from a known set. */
export type NamedField = 'source' | 'region' | 'status' | 'outcome' | 'origin';

/** Whether a line that exists for a client was ever in the index with this value. */
export function knowsName(
  { classes }: AskedIndex,
  field: NamedField,
  value: string,
  scope: SourceScope = null,
): boolean {
  return classes.all().some((each) => each[field] === value && isInScope(scope, each.source));
}

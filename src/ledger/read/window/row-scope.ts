import { isInScope, type SourceScope } from '../../../domain/rights.js';
import type { LedgerRow } from './ledger-row.js';
import type { RowWindow } from './row-window.js';

export type RowTest = (row: Pick<LedgerRow, 'job' | 'source'>) => boolean;

/**
 * Whether a row exists for a client that may see some sources only. A row without a source, such as an operator's act, does
 * when the rows in memory show that its job belongs to these sources and no other.
 */
export function rowScope(window: Pick<RowWindow, 'hoursBefore'>, scope: SourceScope): RowTest {
  if (scope === null) return () => true;
  let jobs: ((job: string) => boolean) | null = null;
  return ({ job, source }) => {
    if (source !== null) return isInScope(scope, source);
    if (job === null) return false;
    jobs ??= jobsInScope(window, scope);
    return jobs(job);
  };
}

function jobsInScope(window: Pick<RowWindow, 'hoursBefore'>, scope: SourceScope): (job: string) => boolean {
  const inside = new Set<string>();
  const outside = new Set<string>();
  for (const { rows } of window.hoursBefore()) {
    for (const { job, source } of rows) {
      if (job !== null && source !== null) (isInScope(scope, source) ? inside : outside).add(job);
    }
  }
  return (job) => inside.has(job) && !outside.has(job);
}

import type { JobProbe } from '../ledger/compact/job-blooms.js';
import { LedgerFileError } from '../ledger/compact/ledger-file-error.js';
import { checkHour, openLedgerFile, rowGroupsToRead } from '../ledger/compact/open-ledger-file.js';
import type { ObjectStore } from '../store/object-store.js';
import type { RunWork } from '../time/work-queue.js';
import type { SettlingLine } from './past-failures.js';

export interface FoundLines {
  readonly lines: readonly SettlingLine[];
  /** What of the file is damaged: `filters` hide no lines, because all rows were read instead. */
  readonly damage: 'rows' | 'filters' | null;
}

/**
 * The lines of jobs in a compacted file, by its bloom filters: most row groups are not read. Null when the file is missing.
 * Rejects with `LedgerFileError` for a file of which nothing can be read, and with `StoreError`.
 */
export async function findSettlingLines(
  store: ObjectStore,
  key: string,
  jobs: ReadonlyMap<string, JobProbe>,
  run?: RunWork,
): Promise<FoundLines | null> {
  const file = await openLedgerFile(store, key, undefined, run);
  if (file === null) return null;
  checkHour(file);
  const lines: SettlingLine[] = [];
  const { indexes, fault } = await rowGroupsToRead(file, [...jobs.values()]);
  let damage: FoundLines['damage'] = fault === null ? null : 'filters';
  for (const group of indexes) {
    try {
      const columns = await file.readColumns(group, ['jobId', 'outcome', 'receivedAt']);
      for (const [index, job] of columns.jobId.entries()) {
        if (job === null || !jobs.has(job)) continue;
        lines.push({ job, outcome: columns.outcome[index] ?? '', time: columns.receivedAt[index] ?? 0 });
      }
    } catch (error) {
      if (!(error instanceof LedgerFileError)) throw error;
      damage = 'rows';
    }
  }
  return { lines, damage };
}

import type { JobProbe } from '../archive/ledger/compaction/job-blooms.js';
import { openLedgerFile } from '../archive/ledger/compaction/open-ledger-file.js';
import type { ObjectStore } from '../store/object-store.js';
import type { RunWork } from '../time/work-queue.js';
import type { SettlingLine } from './past-failures.js';

/**
 * The lines of jobs in a compacted file, by its bloom filters: most row groups are not read. None when the file is missing.
 * Rejects with `LedgerFileError` for a damaged file, and with `StoreError`.
 */
export async function findSettlingLines(
  store: ObjectStore,
  key: string,
  jobs: ReadonlyMap<string, JobProbe>,
  run?: RunWork,
): Promise<SettlingLine[]> {
  const file = await openLedgerFile(store, key, undefined, run);
  if (file === null) return [];
  const lines: SettlingLine[] = [];
  for (const group of await file.rowGroupsOfJobs([...jobs.values()])) {
    const columns = await file.readColumns(group, ['jobId', 'outcome', 'receivedAt']);
    for (const [index, job] of columns.jobId.entries()) {
      if (job === null || !jobs.has(job)) continue;
      lines.push({ job, outcome: columns.outcome[index] ?? '', time: columns.receivedAt[index] ?? 0 });
    }
  }
  return lines;
}

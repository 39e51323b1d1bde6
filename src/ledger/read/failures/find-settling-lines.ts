import type { JobProbe } from '../../parquet/job-blooms.js';
import { LedgerFileError } from '../../parquet/ledger-file-error.js';
import type { LedgerFile } from '../../parquet/open-ledger-file.js';
import { rowGroupsOfJobs } from '../log/row-groups-of-jobs.js';
import type { SettlingLine } from './failing-jobs.js';

export interface SettlingLines {
  readonly lines: readonly SettlingLine[];
  /** Why some of its lines cannot be read; null where all can. */
  readonly damage: string | null;
}

/**
 * The lines of jobs in a compacted file, by its bloom filters: most row groups are not read. Rejects with `LedgerFileError` for a file
 * that cannot be read at all, and with `StoreError`.
 */
export async function findSettlingLines(
  file: LedgerFile,
  jobs: ReadonlyMap<string, JobProbe>,
  onFault: (text: string) => void,
): Promise<SettlingLines> {
  const lines: SettlingLine[] = [];
  let damage: string | null = null;
  for (const group of await rowGroupsOfJobs(file, [...jobs.values()], onFault)) {
    try {
      const columns = await file.readColumns(group, ['jobId', 'outcome', 'receivedAt']);
      for (const [index, job] of columns.jobId.entries()) {
        if (job === null || !jobs.has(job)) continue;
        lines.push({ job, outcome: columns.outcome[index] ?? '', received: columns.receivedAt[index] ?? 0 });
      }
    } catch (error) {
      if (!(error instanceof LedgerFileError)) throw error;
      damage = error.message;
    }
  }
  return { lines, damage };
}

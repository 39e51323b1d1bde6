import type { JobProbe } from '../../parquet/job-blooms.js';
import { LedgerFileError } from '../../parquet/ledger-file-error.js';
import type { LedgerFile } from '../../parquet/open-ledger-file.js';

/**
 * Row groups of a file that may hold lines of some jobs. Rejects with `StoreError`.
 *
 * @param onFault called where the bloom filters are damaged, which hides no line: then it is all of them
 */
export async function rowGroupsOfJobs(
  file: LedgerFile,
  jobs: readonly JobProbe[],
  onFault: (text: string, key: string) => void,
): Promise<readonly number[]> {
  try {
    return await file.rowGroupsOfJobs(jobs);
  } catch (error) {
    if (!(error instanceof LedgerFileError)) throw error;
    onFault(error.message, error.key);
    return [...file.rowGroups.keys()];
  }
}

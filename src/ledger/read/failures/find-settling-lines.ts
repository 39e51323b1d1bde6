import type { JobProbe } from '../../parquet/job-blooms.js';
import { LedgerFileError } from '../../parquet/ledger-file-error.js';
import type { LedgerFile } from '../../parquet/open-ledger-file.js';
import { readAhead } from '../../read-ahead.js';
import { rowGroupsOfJobs } from '../log/row-groups-of-jobs.js';
import type { SettlingLine } from './failing-jobs.js';

/** Row groups that are read at once: a store of objects takes some 30 ms for each. */
const GROUPS_AT_ONCE = 16;

/**
 * The lines of jobs in a compacted file, by its bloom filters: for a few jobs most row groups are not read. Rejects with
 * `LedgerFileError` for a file that cannot be read at all, and with `StoreError`.
 *
 * @param onFault called with what is damaged, and whether lines may be missing for it
 */
export async function findSettlingLines(
  file: LedgerFile,
  jobs: ReadonlyMap<string, JobProbe>,
  onFault: (text: string, hidesLines: boolean) => void,
): Promise<SettlingLine[]> {
  const groups = await rowGroupsOfJobs(file, [...jobs.values()], (text) => onFault(text, false));
  const lines: SettlingLine[] = [];
  const reads = readAhead(groups, GROUPS_AT_ONCE, (group) =>
    linesOfGroup(file, group, jobs).catch((error: unknown) => {
      if (!(error instanceof LedgerFileError)) throw error;
      onFault(error.message, true);
      return [];
    }),
  );
  for await (const found of reads) for (const line of found) lines.push(line);
  return lines;
}

async function linesOfGroup(
  file: LedgerFile,
  group: number,
  jobs: ReadonlyMap<string, JobProbe>,
): Promise<SettlingLine[]> {
  const { jobId } = await file.readColumns(group, ['jobId']);
  // Of thousands of jobs the filters take some for one that the row group has.
  if (!jobId.some((job) => job !== null && jobs.has(job))) return [];
  const { outcome, receivedAt } = await file.readColumns(group, ['outcome', 'receivedAt']);
  return [...jobId.entries()].flatMap(([row, job]) =>
    job === null || !jobs.has(job)
      ? []
      : [{ job, outcome: outcome[row] ?? '', received: receivedAt[row] ?? 0 }],
  );
}

/** Keys of the ledger's objects, relative to the store's prefix (docs/store-layout.md). */
export const LEDGER_FOLDER = 'ledger/';

/** Folder of the ledger partition of an instant, in UTC. */
export function ledgerPartition(instant: string): string {
  return `${LEDGER_FOLDER}dt=${instant.slice(0, 10)}/hour=${instant.slice(11, 13)}/`;
}

/** Folder of an hour below the folders of the compacted ledger, in UTC, e.g. `dt=2026-03-04/hour=05/`. */
export function hourFolder(instant: string): string {
  return ledgerPartition(instant).slice(LEDGER_FOLDER.length);
}

/** Folder of merged hours. */
export const MERGED_FOLDER = 'ledger-hours/';

/** Key of the n-th record of a merged hour; `hour` is a `hourFolder`. */
export function recordKey(hour: string, n: number): string {
  return `${MERGED_FOLDER}${hour}${n}.json`;
}

/** Key of the object that the n-th record names. */
export function mergedObjectKey(hour: string, n: number, sha256: string): string {
  return `${MERGED_FOLDER}${hour}${n}-${sha256.slice(0, 16)}.ndjson.gz`;
}

export const LEDGER_PARQUET_FOLDER = 'ledger-parquet/';
export const ROLLUPS_FOLDER = 'rollups/';
export const DAILY_ROLLUPS_FOLDER = 'rollups-daily/';
/** Key of the n-th Parquet file of an hour; `hour` is a `hourFolder`. */
export function parquetKey(hour: string, n: number): string {
  return `${LEDGER_PARQUET_FOLDER}${hour}${fileNumber(n)}.parquet`;
}

/** Key of the rollup of the n-th Parquet file of an hour. */
export function rollupKey(hour: string, n: number): string {
  return `${ROLLUPS_FOLDER}${hour}${fileNumber(n)}.json`;
}

/** Key of the rollup of a day; `day` is `YYYY-MM-DD`. */
export function dailyRollupKey(day: string): string {
  return `${DAILY_ROLLUPS_FOLDER}dt=${day}/${fileNumber(1)}.json`;
}

/** File numbers have at least four digits, so that names sort by them. */
function fileNumber(n: number): string {
  return String(n).padStart(4, '0');
}

import type { ObjectStore } from '../../../store/object-store.js';
import { LEDGER_PARQUET_FOLDER, parquetKey, ROLLUPS_FOLDER, rollupKey } from '../../ledger-keys.js';
import { LedgerFileError } from '../../parquet/ledger-file-error.js';
import { readAhead } from '../../read-ahead.js';
import { readRollup } from '../../rollup/read-rollup.js';
import type { Rollup } from '../../rollup/rollup.js';

/** What counts of the compacted files of an hour. */
export interface HourFiles {
  /** In the order of their numbers. */
  readonly rollups: readonly Rollup[];
  /** The rollups of all files of the hour exist: its segments need not be looked at. */
  readonly isCompacted: boolean;
  /** Rollups that are damaged or lost, and Parquet files without one. What they cover is not known. */
  readonly faults: readonly LedgerFileError[];
}

/**
 * Reads the rollups of an hour. What is listed of its segments afterwards is in one of these files, or in one that was finished since.
 * Throws `StoreError`.
 */
export async function readHourFiles(store: ObjectStore, hour: string): Promise<HourFiles> {
  const { missing, ...found } = await readOnce(store, hour);
  return { ...found, faults: [...found.faults, ...missing] };
}

/** Rollups that are read at once. */
const AT_ONCE = 4;

/** `missing` are rollups that are lost, or not written so far. */
async function readOnce(
  store: ObjectStore,
  hour: string,
): Promise<HourFiles & { readonly missing: readonly LedgerFileError[] }> {
  const parquet = await listNumbers(store, `${LEDGER_PARQUET_FOLDER}${hour}`, '.parquet');
  const numbers = await listNumbers(store, `${ROLLUPS_FOLDER}${hour}`, '.json');
  const rollups: Rollup[] = [];
  const faults: LedgerFileError[] = [];
  const reads = readAhead(numbers, AT_ONCE, async (n) => {
    const key = rollupKey(hour, n);
    return (
      (await readRollup(store, key)) ?? new LedgerFileError(key, 'it is no rollup of its hour and version')
    );
  });
  for await (const rollup of reads) {
    if (rollup instanceof LedgerFileError) faults.push(rollup);
    else rollups.push(rollup);
  }
  const files = Math.max(0, ...rollups.map((rollup) => rollup.files));
  const expected = new Set([...parquet, ...Array.from({ length: files }, (_, index) => index + 1)]);
  const missing = [...expected]
    .filter((n) => !numbers.includes(n))
    .map((n) =>
      parquet.includes(n)
        ? new LedgerFileError(parquetKey(hour, n), 'it has no rollup')
        : new LedgerFileError(rollupKey(hour, n), 'it is missing'),
    );
  return { rollups, isCompacted: files > 0 && rollups.length === files, faults, missing };
}

const FILE_NAME = /^(\d{4,9})(\.[a-z]+)$/;

/** Numbers of a folder's files, ascending. */
async function listNumbers(store: ObjectStore, folder: string, extension: string): Promise<number[]> {
  const found: number[] = [];
  for await (const { key } of store.list(folder)) {
    const [, digits, end] = FILE_NAME.exec(key.slice(folder.length)) ?? [];
    if (end === extension) found.push(Number(digits));
  }
  return found.sort((a, b) => a - b);
}

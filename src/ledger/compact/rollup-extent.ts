import { LEDGER_PARQUET_FOLDER, ROLLUPS_FOLDER } from '../ledger-keys.js';
import type { Rollup, RollupFigures } from './rollup.js';

/** What a rollup says of its Parquet file. */
export interface FileExtent {
  /** Size of the file. */
  readonly bytes: number;
  readonly rows: number;
  /** Time of receipt of the first and of the last line, in milliseconds since the epoch. */
  readonly first: number;
  readonly last: number;
}

/** Null without a Parquet file. */
export function extentOf({
  parquet,
  rows,
  firstReceivedAt,
  lastReceivedAt,
}: Pick<Rollup, 'parquet' | 'rows' | 'firstReceivedAt' | 'lastReceivedAt'>): FileExtent | null {
  if (parquet === null) return null;
  const [first = 0, last = 0] = [firstReceivedAt, lastReceivedAt].map((at) => Date.parse(at ?? ''));
  return { bytes: parquet.bytes, rows, first, last };
}

/** Whether a rollup belongs at a key: it was not replaced by another one. */
export function isRollupOf(key: string, { hour, parquet, rows }: RollupFigures): boolean {
  const isHour = key.slice(0, key.lastIndexOf('/') + 1) === ROLLUPS_FOLDER + hour;
  return isHour && (parquet === null ? rows === 0 : parquet.key === parquetKeyOf(key));
}

/** Key of the Parquet file of a rollup. */
export function parquetKeyOf(rollupKey: string): string {
  return `${LEDGER_PARQUET_FOLDER}${rollupKey.slice(ROLLUPS_FOLDER.length, -'.json'.length)}.parquet`;
}

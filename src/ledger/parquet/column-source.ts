import type { ColumnSource } from 'hyparquet-writer';
import type { LedgerColumn, LedgerRecord } from './ledger-columns.js';

/** Texts that hardly repeat: a dictionary would save nothing. */
const DISTINCT = ['deliveryId', 'jobId', 'clientIp', 'context', 'shape', 'items', 'extra', 'raw'];

/** A column of a row group. */
export function columnSource(name: LedgerColumn, records: readonly LedgerRecord[]): ColumnSource {
  return {
    name,
    data: records.map((record) => parquetValue(record, name)),
    statistics: name === 'writtenAt' || name === 'receivedAt',
    ...(DISTINCT.includes(name) && { encoding: 'PLAIN' }),
  };
}

/** Parquet's 64-bit numbers are bigints. */
function parquetValue(record: LedgerRecord, name: LedgerColumn): unknown {
  if (name === 'bytes') return BigInt(record.bytes);
  if (name === 'items') return record.items.map((item) => ({ ...item, size: BigInt(item.size) }));
  return record[name];
}

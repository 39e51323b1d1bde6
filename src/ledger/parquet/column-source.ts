import type { ColumnSource } from 'hyparquet-writer';
import type { LedgerColumn, LedgerRecord } from './ledger-columns.js';

/** Texts that hardly repeat: a dictionary would save nothing. */
const DISTINCT = ['deliveryId', 'jobId', 'clientIp', 'context', 'shape', 'items', 'extra', 'raw'];

/**
 * Share of the row groups without a job that its bloom filter does not exclude: the search behind ten thousand failing jobs would read
 * every tenth otherwise unread row group at 1e-5, and all of them at 1e-3. A filter takes four bytes a row.
 */
const FALSE_POSITIVES = 1e-5;

/** A column of a row group. */
export function columnSource(name: LedgerColumn, records: readonly LedgerRecord[]): ColumnSource {
  return {
    name,
    data: records.map((record) => parquetValue(record, name)),
    // Without these the bloom filters are all that is between the rows and the footer.
    offsetIndex: false,
    statistics: name === 'writtenAt' || name === 'receivedAt',
    bloomFilter: name === 'jobId' && { fpp: FALSE_POSITIVES },
    ...(DISTINCT.includes(name) && { encoding: 'PLAIN' }),
  };
}

/** Parquet's 64-bit numbers are bigints. */
function parquetValue(record: LedgerRecord, name: LedgerColumn): unknown {
  if (name === 'bytes') return BigInt(record.bytes);
  if (name === 'items') return record.items.map((item) => ({ ...item, size: BigInt(item.size) }));
  return record[name];
}

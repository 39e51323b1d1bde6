import { gunzipSync } from 'node:zlib';
import { type Compressors, type FileMetaData, parquetRead } from 'hyparquet';
import type { ByteRange } from './file-checks.js';
import type { LedgerColumn } from './ledger-columns.js';

const compressors: Compressors = {
  GZIP(bytes, length) {
    if (length === 0) return new Uint8Array();
    return gunzipSync(bytes, { maxOutputLength: length });
  },
};

/**
 * Decodes one column of a row group, whose chunks have been checked.
 *
 * @param metadata of the file, as if the row group were all of it
 * @param bytes of the file, those of the range
 */
export async function decodeColumn(
  name: LedgerColumn,
  metadata: FileMetaData,
  bytes: Buffer,
  range: ByteRange,
): Promise<unknown[]> {
  const values: unknown[] = [];
  await parquetRead({
    file: {
      byteLength: range.end,
      slice: (start, end = range.end) =>
        new Uint8Array(bytes.subarray(start - range.start, end - range.start)).buffer,
    },
    metadata,
    columns: [name],
    compressors,
    parsers: {
      timestampFromMilliseconds: Number,
      // Keeps a byte order mark, which TextDecoder drops.
      stringFromBytes: (text) => Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString(),
    },
    onChunk: ({ columnData }) => {
      for (const value of columnData) values.push(value);
    },
  });
  if (name === 'bytes') return values.map(Number);
  if (name === 'items') return (values as { size: bigint }[][]).map(withSizes);
  return values;
}

function withSizes(items: readonly { size: bigint }[]) {
  return items.map((item) => ({ ...item, size: Number(item.size) }));
}

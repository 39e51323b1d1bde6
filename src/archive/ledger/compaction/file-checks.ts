import { crc32 } from 'node:zlib';
import type { ColumnChunk } from 'hyparquet';

/** Key of the file's metadata that says that it is ours. Its value is the JSON of the `GroupChecks` of all row groups. */
export const FORMAT_KEY = 'transcript-receiver.ledger:1';

/** CRC-32 of every column chunk of a row group, in the order of the columns, and of its bloom filter; 0 without one. */
export interface GroupChecks {
  readonly columns: readonly number[];
  readonly bloom: number;
}

/** What the writer keeps of a column chunk until the end of the file. */
interface WrittenColumn {
  readonly chunk: ColumnChunk;
  readonly bloomFilter?: Uint32Array;
}

/**
 * @param columns of one row group
 * @param bytes of the file, the first of them at `offset`
 */
export function checkGroup(
  columns: readonly WrittenColumn[],
  bytes: Uint8Array,
  offset: number,
): GroupChecks {
  const bloom = columns.find(({ bloomFilter }) => bloomFilter !== undefined)?.bloomFilter;
  return {
    columns: columns.map(({ chunk }) => {
      const { start, end } = rangeOf(chunk);
      return crc32(bytes.subarray(start - offset, end - offset));
    }),
    bloom: bloom === undefined ? 0 : checkBloom(bloom),
  };
}

export function checkBloom(blocks: Uint32Array): number {
  return crc32(new Uint8Array(blocks.buffer, blocks.byteOffset, blocks.byteLength));
}

/** Where a column chunk lies in the file; `end` is exclusive. */
export function rangeOf({ meta_data: meta }: ColumnChunk): { start: number; end: number } {
  const start = Number(meta?.dictionary_page_offset ?? meta?.data_page_offset);
  return { start, end: start + Number(meta?.total_compressed_size) };
}

import type { ColumnChunk } from 'hyparquet';

/** Key of the metadata of our files. Its value is the JSON of the CRC-32 of every column chunk, by row group. */
export const CHUNKS_KEY = 'transcript-receiver.ledger:1';

/** Bytes of a file; `end` is exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Where a column chunk is in the file. */
export function rangeOf({ meta_data: meta }: ColumnChunk): ByteRange {
  const start = Number(meta?.dictionary_page_offset ?? meta?.data_page_offset);
  return { start, end: start + Number(meta?.total_compressed_size) };
}

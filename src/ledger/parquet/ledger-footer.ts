import { crc32 } from 'node:zlib';
import { type FileMetaData, parquetMetadata } from 'hyparquet';
import { type ByteRange, CHUNKS_KEY, rangeOf } from './file-checks.js';

/** The footer of a file. Its bytes were compared with the CRC of the rollup: what it says is what the writer said. */
export interface LedgerFooter {
  readonly metadata: FileMetaData;
  /** CRC-32 of the column chunks, by row group. */
  readonly chunks: readonly (readonly number[])[];
}

/** @param tail the end of a file */
export function parseFooter(tail: Buffer): LedgerFooter {
  const metadata = parquetMetadata(new Uint8Array(tail).buffer, { geoparquet: false });
  const json = metadata.key_value_metadata?.find(({ key }) => key === CHUNKS_KEY)?.value ?? '[]';
  return { metadata, chunks: JSON.parse(json) };
}

/** A column chunk, where it is and the CRC-32 of its bytes. */
interface CheckedChunk {
  readonly range: ByteRange;
  readonly check: number | undefined;
}

/** The chunks of some columns of a row group, the bytes from the first to the last of them, and the metadata of that row group. */
export function chunksOf(
  { metadata, chunks }: LedgerFooter,
  group: number,
  columns: readonly string[],
): { metadata: FileMetaData; chunks: CheckedChunk[]; range: ByteRange } {
  const found = metadata.row_groups[group];
  if (found === undefined) throw new RangeError(`there is no row group ${group}`);
  const wanted = found.columns.flatMap((chunk, index) =>
    columns.includes(chunk.meta_data?.path_in_schema[0] ?? '')
      ? [{ range: rangeOf(chunk), check: chunks[group]?.[index] }]
      : [],
  );
  const range = { start: wanted[0]?.range.start ?? 0, end: wanted.at(-1)?.range.end ?? 0 };
  return {
    metadata: { ...metadata, num_rows: found.num_rows, row_groups: [found] },
    chunks: wanted,
    range,
  };
}

/**
 * The first chunk that is damaged; undefined without one.
 *
 * @param bytes of the file, those of the range
 */
export function damagedChunk(chunks: readonly CheckedChunk[], bytes: Buffer, range: ByteRange) {
  return chunks.find(
    ({ range: own, check }) =>
      crc32(bytes.subarray(own.start - range.start, own.end - range.start)) !== check,
  );
}

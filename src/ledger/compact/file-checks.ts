import { crc32 } from 'node:zlib';
import type { ColumnChunk } from 'hyparquet';

/** Key of the file's metadata that says that it is ours. Its value is the JSON of the checks of all row groups. */
export const FORMAT_KEY = 'transcript-receiver.ledger:1';

/** What a reader compares with a row group before it decodes it: decoders trust lengths and counts. */
export interface GroupChecks {
  readonly rows: number;
  /** Time of receipt of the first and of the last line, in milliseconds since the epoch. */
  readonly first: number;
  readonly last: number;
  /** CRC-32 of every column chunk, in the order of the columns. */
  readonly columns: readonly number[];
  /** CRC-32 of what the footer says of the column chunks. */
  readonly footer: number;
  /** CRC-32 of the bloom filter of the job ids; null without one, when no line has a job. */
  readonly bloom: number | null;
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
export function checksOf(
  columns: readonly WrittenColumn[],
  bytes: Uint8Array,
  offset: number,
): Pick<GroupChecks, 'columns' | 'footer' | 'bloom'> {
  const bloom = columns.find(({ bloomFilter }) => bloomFilter !== undefined)?.bloomFilter;
  return {
    columns: columns.map(({ chunk }) => {
      const { start, end } = rangeOf(chunk);
      return crc32(bytes.subarray(start - offset, end - offset));
    }),
    footer: checkOfMetadata(columns.map(({ chunk }) => chunk)),
    bloom: bloom === undefined ? null : checkOfBloom(bloom),
  };
}

/** The fields that decide how a chunk is decoded. */
const DECODING = [
  'type',
  'codec',
  'num_values',
  'total_uncompressed_size',
  'total_compressed_size',
  'data_page_offset',
  'dictionary_page_offset',
] as const;

/** CRC-32 of what a footer says of the column chunks of a row group. */
export function checkOfMetadata(columns: readonly ColumnChunk[]): number {
  const values = columns.map(({ meta_data: meta }) => DECODING.map((field) => String(meta?.[field])));
  return crc32(JSON.stringify(values));
}

export function checkOfBloom(blocks: Uint32Array): number {
  return crc32(new Uint8Array(blocks.buffer, blocks.byteOffset, blocks.byteLength));
}

/** Bytes of a file; `end` is exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Where a column chunk lies in the file. */
export function rangeOf({ meta_data: meta }: ColumnChunk): ByteRange {
  const start = Number(meta?.dictionary_page_offset ?? meta?.data_page_offset);
  return { start, end: start + Number(meta?.total_compressed_size) };
}

/** Null for text that holds no checks. */
export function parseChecks(json: string): GroupChecks[] | null {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) && value.every(isGroupChecks) ? value : null;
  } catch {
    return null;
  }
}

function isGroupChecks(value: unknown): value is GroupChecks {
  if (typeof value !== 'object' || value === null) return false;
  const { rows, first, last, columns, footer, bloom } = value as Partial<Record<keyof GroupChecks, unknown>>;
  const numbers = [
    rows,
    first,
    last,
    footer,
    bloom ?? 0,
    ...(Array.isArray(columns) ? columns : [Number.NaN]),
  ];
  return numbers.every(Number.isSafeInteger);
}

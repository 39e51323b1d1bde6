import { crc32 } from 'node:zlib';
import {
  type ColumnChunk,
  type FileMetaData,
  parquetMetadata,
  type RowGroup,
  type SchemaElement,
} from 'hyparquet';
import {
  type ByteRange,
  checkOfMetadata,
  FORMAT_KEY,
  type GroupChecks,
  parseChecks,
  rangeOf,
} from './file-checks.js';
import { LEDGER_LAYOUTS, type LedgerColumn, type LedgerLayout } from './ledger-columns.js';
import { checkThriftBounds } from './thrift-bounds.js';

/** A row group as the footer describes it. */
export interface GroupFooter extends GroupChecks {
  /** Of its column chunks, which follow each other. */
  readonly range: ByteRange;
  readonly metadata: RowGroup;
  /** The columns it has. */
  readonly names: readonly LedgerColumn[];
  /** Of the bloom filter with its header; null without one. */
  readonly bloomRange: ByteRange | null;
}

/** At the end of a file: the length of the footer, and the magic number. */
export const TRAILER_BYTES = 8;
/** Begin of a Parquet file: its magic number. */
const FIRST_OFFSET = 4;
/** Upper bounds of what is read at once, far above what we write. */
const MAX_GROUP_ROWS = 65_536;
const MAX_GROUP_BYTES = 128 * 1024 * 1024;
const MAX_BLOOM_BYTES = 2 * 1024 * 1024;

/**
 * Reads a footer, the end of a file of `size` bytes. Throws an `Error` that says what is wrong when the file is not ours
 * or damaged: the decoders of hyparquet trust what a footer says, up to lengths of arrays.
 */
export function parseFooter(tail: Buffer, size: number): GroupFooter[] {
  const length = tail.readUInt32LE(tail.length - TRAILER_BYTES);
  if (length > tail.length - TRAILER_BYTES) throw new Error(`it has a footer of ${length} bytes`);
  checkThriftBounds(tail.subarray(tail.length - TRAILER_BYTES - length, tail.length - TRAILER_BYTES));
  const metadata = parquetMetadata(tail, {
    geoparquet: false,
    parsers: { timestampFromMilliseconds: Number },
  });
  const json = metadata.key_value_metadata?.find(({ key }) => key === FORMAT_KEY)?.value;
  if (json === undefined) throw new Error('no file of this product and version');
  const checks = parseChecks(json);
  if (checks === null || checks.length !== metadata.row_groups.length)
    throw new Error('its checks are damaged');
  const layout = LEDGER_LAYOUTS.find(({ schema }) => isSchema(metadata.schema, schema));
  if (layout === undefined) throw new Error('its columns are others');
  const end = size - length - TRAILER_BYTES;
  let offset = FIRST_OFFSET;
  const groups = checks.map((check, index) => {
    const group = describeGroup(metadata, layout, index, check, offset);
    if (group === null || group.range.end > end || !isWithin(group.bloomRange, end)) {
      throw new Error(`its row group ${index} is damaged`);
    }
    offset = group.range.end;
    return group;
  });
  return groups;
}

function describeGroup(
  { row_groups: groups }: FileMetaData,
  { columns: names, leaves }: LedgerLayout,
  index: number,
  checks: GroupChecks,
  offset: number,
): GroupFooter | null {
  const metadata = groups[index];
  if (metadata === undefined || metadata.columns.length !== checks.columns.length) return null;
  const range = rangeOfColumns(metadata.columns, leaves, offset);
  const isPlausible =
    Number(metadata.num_rows) === checks.rows &&
    checkOfMetadata(metadata.columns) === checks.footer &&
    checks.rows > 0 &&
    checks.rows <= MAX_GROUP_ROWS &&
    range !== null &&
    range.end - range.start <= MAX_GROUP_BYTES;
  if (!isPlausible) return null;
  const jobs = metadata.columns.find(
    (chunk) => chunk.meta_data?.path_in_schema.join('.') === 'jobId',
  )?.meta_data;
  const start = Number(jobs?.bloom_filter_offset ?? Number.NaN);
  const bloomRange = checks.bloom === null ? null : { start, end: start + Number(jobs?.bloom_filter_length) };
  return { ...checks, range, metadata, names, bloomRange };
}

/** A column chunk, where it lies and the CRC-32 of its bytes. */
interface CheckedChunk {
  readonly range: ByteRange;
  readonly check: number;
}

/** The chunks of some columns, and the bytes from the first to the last of them. */
export function chunksOf(
  { metadata, columns: checks }: GroupFooter,
  columns: readonly string[],
): { chunks: CheckedChunk[]; range: ByteRange } {
  const chunks = metadata.columns.flatMap((chunk, index) =>
    columns.includes(chunk.meta_data?.path_in_schema[0] ?? '')
      ? [{ range: rangeOf(chunk), check: checks[index] ?? 0 }]
      : [],
  );
  return { chunks, range: { start: chunks[0]?.range.start ?? 0, end: chunks.at(-1)?.range.end ?? 0 } };
}

/**
 * Throws when a chunk is damaged.
 *
 * @param bytes of the file, those of the range
 */
export function verifyChunks(chunks: readonly CheckedChunk[], bytes: Buffer, range: ByteRange): void {
  for (const { range: own, check } of chunks) {
    if (crc32(bytes.subarray(own.start - range.start, own.end - range.start)) !== check) {
      throw new Error(`bytes ${own.start} to ${own.end} are damaged`);
    }
  }
}

/** Null unless the chunks are those of the columns and follow each other from `offset` on. */
function rangeOfColumns(
  columns: readonly ColumnChunk[],
  leaves: readonly string[],
  offset: number,
): ByteRange | null {
  let end = offset;
  for (const [index, chunk] of columns.entries()) {
    const range = rangeOf(chunk);
    const isNext = range.start === end && range.end > range.start;
    const isColumn = chunk.meta_data?.path_in_schema.join('.') === leaves[index];
    if (!isNext || !isColumn || chunk.meta_data?.codec !== 'GZIP') return null;
    end = range.end;
  }
  return columns.length === leaves.length ? { start: offset, end } : null;
}

function isWithin(range: ByteRange | null, end: number): boolean {
  if (range === null) return true;
  return (
    range.start > 0 &&
    range.end > range.start &&
    range.end <= end &&
    range.end - range.start <= MAX_BLOOM_BYTES
  );
}

const COMPARED = ['name', 'type', 'repetition_type', 'converted_type', 'num_children'] as const;

function isSchema(schema: readonly SchemaElement[], expected: readonly SchemaElement[]): boolean {
  return (
    schema.length === expected.length &&
    expected.every((element, index) =>
      COMPARED.every((property) => schema[index]?.[property] === element[property]),
    )
  );
}

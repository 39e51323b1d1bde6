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

/** The footer of a file. What it says of a row group is decoded when it is needed: it takes most of the time. */
export interface LedgerFooter {
  readonly groups: readonly GroupChecks[];
  /** Throws when the footer is damaged there. */
  describe(index: number): GroupFooter;
}

/** A row group as the footer describes it. */
export interface GroupFooter extends GroupChecks {
  readonly metadata: RowGroup;
  /** The columns it has. */
  readonly names: readonly LedgerColumn[];
  /** Of the bloom filter with its header; null without one. */
  readonly bloomRange: ByteRange | null;
}

/** At the end of a file: the length of the footer, and the magic number. */
export const TRAILER_BYTES = 8;
/** At the beginning and at the end of a Parquet file. */
const MAGIC = Buffer.from('PAR1');
/** Heads of lists of structs in Thrift's compact protocol, of none and of one, and the end of a struct. */
const NO_STRUCTS = Buffer.of(0x0c);
const ONE_STRUCT = Buffer.of(0x1c);
const STOP = Buffer.of(0);
/** Upper bounds of what is read at once, far above what we write. */
const MAX_GROUP_ROWS = 65_536;
const MAX_GROUP_BYTES = 128 * 1024 * 1024;
export const MAX_BLOOM_BYTES = 2 * 1024 * 1024;

/**
 * Reads a footer, the end of a file of `size` bytes. Throws an `Error` that says what is wrong when the file is not ours
 * or damaged: the decoders of hyparquet trust what a footer says, up to lengths of arrays.
 */
export function parseFooter(tail: Buffer, size: number): LedgerFooter {
  const length = tail.readUInt32LE(tail.length - TRAILER_BYTES);
  if (length > tail.length - TRAILER_BYTES) throw new Error(`it has a footer of ${length} bytes`);
  if (!tail.subarray(-MAGIC.length).equals(MAGIC)) throw new Error('it has no magic number');
  const bytes = tail.subarray(tail.length - TRAILER_BYTES - length, tail.length - TRAILER_BYTES);
  const [, list] = checkThriftBounds(bytes);
  if (list === undefined) throw new Error('its footer has no row groups');
  const beforeGroups = bytes.subarray(0, list.start);
  const file = decode([beforeGroups, NO_STRUCTS, bytes.subarray(list.end)]);
  const json = file.key_value_metadata?.find(({ key }) => key === FORMAT_KEY)?.value;
  if (json === undefined) throw new Error('no file of this product and version');
  const checks = parseChecks(json);
  if (checks === null || checks.length !== list.elements.length) throw new Error('its checks are damaged');
  const layout = LEDGER_LAYOUTS.find(({ schema }) => isSchema(file.schema, schema));
  if (file.row_groups.length > 0 || layout === undefined) throw new Error('its columns are others');
  const end = size - length - TRAILER_BYTES;
  return {
    groups: checks,
    describe(index) {
      const { start = 0, end: next = 0 } = list.elements[index] ?? {};
      const { row_groups: groups } = decode([beforeGroups, ONE_STRUCT, bytes.subarray(start, next), STOP]);
      const group = describeGroup(groups[0], layout, checks[index], end);
      if (group === null) throw new Error(`its row group ${index} is damaged`);
      return group;
    },
  };
}

function describeGroup(
  metadata: RowGroup | undefined,
  { columns: names, leaves }: LedgerLayout,
  checks: GroupChecks | undefined,
  end: number,
): GroupFooter | null {
  if (metadata === undefined || checks === undefined) return null;
  const isPlausible =
    metadata.columns.length === checks.columns.length &&
    Number(metadata.num_rows) === checks.rows &&
    checkOfMetadata(metadata.columns) === checks.footer &&
    checks.rows > 0 &&
    checks.rows <= MAX_GROUP_ROWS &&
    areColumns(metadata.columns, leaves, end);
  if (!isPlausible) return null;
  const jobs = metadata.columns.find(
    (chunk) => chunk.meta_data?.path_in_schema.join('.') === 'jobId',
  )?.meta_data;
  const start = Number(jobs?.bloom_filter_offset ?? Number.NaN);
  const bloomRange = checks.bloom === null ? null : { start, end: start + Number(jobs?.bloom_filter_length) };
  return isWithin(bloomRange, end) ? { ...checks, metadata, names, bloomRange } : null;
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

/** Whether the chunks are those of the columns and follow each other. */
function areColumns(columns: readonly ColumnChunk[], leaves: readonly string[], end: number): boolean {
  const first = columns[0] === undefined ? 0 : rangeOf(columns[0]).start;
  let next = first;
  for (const [index, chunk] of columns.entries()) {
    const range = rangeOf(chunk);
    const isNext = range.start === next && range.end > range.start;
    const isColumn = chunk.meta_data?.path_in_schema.join('.') === leaves[index];
    if (!isNext || !isColumn || chunk.meta_data?.codec !== 'GZIP') return false;
    next = range.end;
  }
  const isBounded = first >= MAGIC.length && next <= Math.min(end, first + MAX_GROUP_BYTES);
  return columns.length === leaves.length && isBounded;
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

/** Decodes a footer that is put together from parts of another one. */
function decode(parts: readonly Buffer[]): FileMetaData {
  const footer = Buffer.concat(parts);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return parquetMetadata(Buffer.concat([footer, length, MAGIC]), {
    geoparquet: false,
    parsers: { timestampFromMilliseconds: Number },
  });
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

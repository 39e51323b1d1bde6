import { crc32, gzipSync } from 'node:zlib';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { LedgerLine } from '../../domain/delivery.js';
import type { ObjectStore, PendingUpload } from '../../store/object-store.js';
import { cooperativeYield, type Pause } from '../../time/cooperative-yield.js';
import type { RollupParquet, RollupRowGroup } from '../rollup/rollup.js';
import { columnSource } from './column-source.js';
import { CHUNKS_KEY, checksOf } from './file-checks.js';
import { encodeLine, LEDGER_COLUMNS, LEDGER_SCHEMA, type LedgerRecord } from './ledger-columns.js';
import type { SortableLine } from './sort-lines.js';

/** A Parquet file of ledger lines as it is stored. */
export interface WrittenLedgerFile {
  /** `exists`: there is a file at that key already. */
  readonly result: 'created' | 'exists';
  readonly parquet: RollupParquet;
}

/** Called with every line, in the order of the rows. */
export type OnLine = (line: LedgerLine, writtenAt: number) => void;

const HEADERS = { contentType: 'application/vnd.apache.parquet', metadata: {} } as const;

/**
 * Rows of a row group, and bytes of text at which it ends early. Twice as large ones are 1 % smaller, but a column of them
 * is encoded and decoded without giving the event loop back: of this size that takes some 7 ms for `items`.
 */
const GROUP_ROWS = 2048;
const GROUP_BYTES = 8 * 1024 * 1024;

/**
 * Writes sorted lines (`sortLines`) as one Parquet file, visible when it is complete. Holds a row group and a part of the
 * upload in memory. Throws for text that is not a ledger line, and `StoreError`.
 */
export async function writeLedgerFile(
  store: ObjectStore,
  key: string,
  lines: readonly SortableLine[],
  onLine?: OnLine,
  pause?: Pause,
): Promise<WrittenLedgerFile> {
  let upload: PendingUpload | null = null;
  let bytes = 0;
  let held = Buffer.alloc(0);
  const encoder = encodeLedgerFile(lines, onLine, pause);
  try {
    for (let next = await encoder.next(); ; next = await encoder.next()) {
      if (next.done) {
        await upload?.write(held);
        const result = await (upload?.complete() ?? store.create(key, held, HEADERS));
        return { result, parquet: { key, bytes, ...next.value } };
      }
      bytes += next.value.length;
      held = Buffer.concat([held, next.value]);
      while (held.length > store.partSize) {
        upload ??= await store.startUpload(key, HEADERS);
        await upload.write(held.subarray(0, store.partSize));
        held = Buffer.from(held.subarray(store.partSize));
      }
    }
  } catch (error) {
    await upload?.abort();
    throw error;
  }
}

/** The bytes of the file, a chunk for every row group, and what the rollup says of it. The same lines give the same bytes. */
export async function* encodeLedgerFile(
  lines: readonly SortableLine[],
  onLine?: OnLine,
  pause: Pause = cooperativeYield(),
): AsyncGenerator<Buffer, Omit<RollupParquet, 'key' | 'bytes'>> {
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({
    writer,
    schema: LEDGER_SCHEMA,
    codec: 'GZIP',
    // Level 1 of zlib takes the time of Snappy in JavaScript and saves 40 % of its size: hashes are half the content.
    compressors: { GZIP: (bytes) => gzipSync(bytes, { level: 1 }) },
    createdBy: 'transcript-receiver',
  });
  const checks: number[][] = [];
  const groups: RollupRowGroup[] = [];
  for (const group of splitIntoGroups(lines)) {
    const records: LedgerRecord[] = [];
    for (const { text, writtenAt } of group) {
      const encoded = encodeLine(text, writtenAt);
      if (encoded === null) throw new Error('not a ledger line');
      records.push(encoded.record);
      onLine?.(encoded.line, writtenAt);
      await pause();
    }
    const before = parquet.pendingIndexes.length;
    await writeRowGroup(parquet, records, pause);
    const written = parquet.pendingIndexes.slice(before);
    const columns = written.map(({ chunk }) => chunk);
    checks.push(checksOf(columns, writer.getBytes(), writer.offset - writer.index));
    groups.push({
      rows: records.length,
      first: records[0]?.writtenAt ?? 0,
      last: records.at(-1)?.writtenAt ?? 0,
      hasJobs: written.some(({ bloomFilter }) => bloomFilter !== undefined),
    });
    yield drain(writer);
  }
  parquet.kvMetadata = [{ key: CHUNKS_KEY, value: JSON.stringify(checks) }];
  const offset = writer.offset;
  await parquet.finish();
  const end = drain(writer);
  yield end;
  // Its length, and the magic number.
  const footer = end.subarray(end.length - end.readUInt32LE(end.length - 8) - 8);
  const filters = end.subarray(firstFilter(parquet, offset) - offset, end.length - footer.length);
  return {
    ...{ filters: filters.length, filtersCrc: crc32(filters) },
    ...{ footer: footer.length, footerCrc: crc32(footer), groups },
  };
}

/** Where the first bloom filter begins: statistics come before it, the other filters and the footer behind. */
function firstFilter({ row_groups: groups }: ParquetWriter, otherwise: number): number {
  const offsets = groups.flatMap(({ columns }) =>
    columns.flatMap(({ meta_data: meta }) => meta?.bloom_filter_offset ?? []),
  );
  return offsets.length === 0 ? otherwise : Math.min(...offsets.map(Number));
}

function* splitIntoGroups(lines: readonly SortableLine[]): Generator<SortableLine[]> {
  let group: SortableLine[] = [];
  let bytes = 0;
  for (const line of lines) {
    group.push(line);
    bytes += line.text.length;
    if (group.length < GROUP_ROWS && bytes < GROUP_BYTES) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield group;
}

/** Writes column by column, each as a row group of its own, to give the event loop back in between; then joins them. */
async function writeRowGroup(
  parquet: ParquetWriter,
  records: readonly LedgerRecord[],
  pause: Pause,
): Promise<void> {
  const before = parquet.row_groups.length;
  for (const name of LEDGER_COLUMNS) {
    await parquet.write({ columnData: [columnSource(name, records)], rowGroupSize: records.length });
    await pause();
  }
  const columns = parquet.row_groups.splice(before);
  const total = (sizes: readonly (bigint | undefined)[]) =>
    sizes.reduce<bigint>((sum, size) => sum + (size ?? 0n), 0n);
  const rows = BigInt(records.length);
  parquet.row_groups.push({
    columns: columns.flatMap((group) => group.columns),
    total_byte_size: total(columns.map((group) => group.total_byte_size)),
    total_compressed_size: total(columns.map((group) => group.total_compressed_size)),
    num_rows: rows,
  });
  parquet.num_rows -= rows * BigInt(columns.length - 1);
}

/** The bytes written since the last call. */
function drain(writer: ByteWriter): Buffer {
  const bytes = Buffer.from(writer.getBytes());
  writer.index = 0;
  return bytes;
}

import { crc32, gzipSync } from 'node:zlib';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { LedgerLine } from '../../domain/delivery.js';
import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { cooperativeYield, type Pause } from '../../time/cooperative-yield.js';
import { createSame } from '../create-same.js';
import type { RollupParquet, RollupRowGroup } from '../rollup/rollup.js';
import { columnSource } from './column-source.js';
import { CHUNKS_KEY, checksOf } from './file-checks.js';
import { encodeLine, LEDGER_COLUMNS, LEDGER_SCHEMA, type LedgerRecord } from './ledger-columns.js';
import type { SortableLine } from './sort-lines.js';

/** Called with every line, in the order of the rows. */
export type OnLine = (line: LedgerLine, writtenAt: number) => void;

/**
 * Rows of a row group, and bytes of text at which it ends early. A row group is encoded without giving the event loop back, which takes
 * some 15 ms.
 */
const GROUP_ROWS = 2048;
const GROUP_BYTES = 8 * 1024 * 1024;

/**
 * Writes sorted lines (`sortLines`) as one Parquet file, unless it is there already. Throws for text that is not a ledger line, and
 * `StoreError`, also where the key has another file.
 */
export async function writeLedgerFile(
  store: ObjectStore,
  key: string,
  lines: readonly SortableLine[],
  onLine?: OnLine,
  pause?: Pause,
): Promise<RollupParquet> {
  const { content, ...parquet } = await encodeLedgerFile(lines, onLine, pause);
  if (!(await createSame(store, key, content, 'application/vnd.apache.parquet')))
    throw new StoreError(
      'compact',
      `${key} holds other lines than its plan: delete it, and it is written again`,
    );
  return { key, bytes: content.length, ...parquet };
}

/** The bytes of the file, and what the rollup says of it. The same lines give the same bytes. */
export async function encodeLedgerFile(
  lines: readonly SortableLine[],
  onLine?: OnLine,
  pause: Pause = cooperativeYield(),
): Promise<{ content: Buffer } & Omit<RollupParquet, 'key' | 'bytes'>> {
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({
    writer,
    schema: LEDGER_SCHEMA,
    codec: 'GZIP',
    // Level 1 of zlib takes the time of Snappy in JavaScript and saves 40 % of its size: hashes are half the content.
    compressors: { GZIP: (bytes) => gzipSync(bytes, { level: 1 }) },
    createdBy: 'transcript-receiver',
  });
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
    parquet.write({
      columnData: LEDGER_COLUMNS.map((name) => columnSource(name, records)),
      rowGroupSize: records.length,
    });
    groups.push({
      rows: records.length,
      first: records[0]?.writtenAt ?? 0,
      last: records.at(-1)?.writtenAt ?? 0,
      hasJobs: records.some(({ jobId }) => jobId !== null),
    });
    await pause();
  }
  const checks = parquet.row_groups.map(({ columns }) => checksOf(columns, writer.getBytes()));
  parquet.kvMetadata = [{ key: CHUNKS_KEY, value: JSON.stringify(checks) }];
  const rows = writer.offset;
  parquet.finish();
  const content = Buffer.from(writer.getBytes());
  // Its length, and the magic number.
  const footer = content.readUInt32LE(content.length - 8) + 8;
  const filters = content.length - footer - rows;
  return {
    content,
    ...{ filters, filtersCrc: crc32(content.subarray(rows, rows + filters)) },
    ...{ footer, footerCrc: crc32(content.subarray(rows + filters)), groups },
  };
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

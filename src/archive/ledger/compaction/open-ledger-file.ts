import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { type FileMetaData, parquetMetadata, parquetRead } from 'hyparquet';
import { hashParquetValue, readBloomFilter, sbbfContains } from 'hyparquet/src/bloom.js';
import type { LedgerLine } from '../../../domain/delivery.js';
import { type ObjectStore, StoreError } from '../../../store/object-store.js';
import { cooperativeYield } from '../../../time/cooperative-yield.js';
import { decodeLine, LEDGER_COLUMNS, type LedgerColumn, type LedgerRecord } from './ledger-columns.js';

/** A Parquet file of ledger lines, read by ranges. Its rows are sorted by time of receipt, delivery id and outcome. */
export interface LedgerFile {
  readonly key: string;
  /** Size of the file. */
  readonly bytes: number;
  readonly rows: number;
  /** In the order of the rows. */
  readonly rowGroups: readonly LedgerRowGroup[];

  /**
   * Reads lines of a row group, in their order.
   *
   * @param rows indexes within the row group, ascending; default all of them
   */
  readLines(rowGroup: number, rows?: readonly number[]): Promise<LedgerLine[]>;

  /**
   * Reads some columns of a row group: for every row an entry in each. Values that no column can hold are null, 0 or
   * empty here; `readLines` has them.
   */
  readColumns<Column extends LedgerColumn>(
    rowGroup: number,
    columns: readonly Column[],
  ): Promise<LedgerColumns<Column>>;

  /** Indexes of the row groups that may hold lines of the job: of all that do, and of some 1 % of the others. */
  rowGroupsOfJob(jobId: string): Promise<number[]>;
}

export interface LedgerRowGroup {
  readonly rows: number;
  /** Compressed size. */
  readonly bytes: number;
  /** Time of receipt of the first and of the last line, in milliseconds since the epoch. */
  readonly first: number;
  readonly last: number;
}

export type LedgerColumns<Column extends LedgerColumn = LedgerColumn> = {
  readonly [Name in Column]: readonly LedgerRecord[Name][];
};

/** The object is no Parquet file of this product, or it is damaged. Retrying is useless. */
export class LedgerFileError extends StoreError {
  constructor(key: string, detail: string, options?: { cause?: unknown }) {
    super('read', `${key} is not a readable ledger file: ${detail}`, options);
    this.name = 'LedgerFileError';
  }
}

/**
 * Reads the file's footer; null when the file is missing. Throws `LedgerFileError` for a damaged or foreign file, and
 * `StoreError`; so do the methods of the result.
 *
 * @param size of the file, where the caller knows it: saves a request
 */
export async function openLedgerFile(
  store: ObjectStore,
  key: string,
  size?: number,
): Promise<LedgerFile | null> {
  const bytes = size ?? (await store.head(key))?.size;
  if (bytes === undefined) return null;
  const whole = await readRange(store, key, 0, bytes);
  if (whole === null) return null;
  const metadata = parquetMetadata(whole);
  const rowGroups = metadata.row_groups.map((group) => {
    const received = group.columns.find(({ meta_data: meta }) => meta?.path_in_schema[0] === 'receivedAt');
    const { min_value: min, max_value: max } = received?.meta_data?.statistics ?? {};
    return {
      rows: Number(group.num_rows),
      bytes: Number(group.total_compressed_size),
      first: Number(min),
      last: Number(max),
    };
  });

  async function readColumns<Column extends LedgerColumn>(rowGroup: number, columns: readonly Column[]) {
    const pause = cooperativeYield();
    const result: Partial<Record<LedgerColumn, unknown>> = {};
    for (const name of columns) {
      result[name] = await readColumn(whole as Buffer, metadata, rowGroup, name);
      await pause();
    }
    return result as LedgerColumns<Column>;
  }

  return {
    key,
    bytes,
    rows: Number(metadata.num_rows),
    rowGroups,
    readColumns,

    async readLines(rowGroup, rows) {
      const pause = cooperativeYield();
      const columns = await readColumns(rowGroup, LEDGER_COLUMNS);
      const lines: LedgerLine[] = [];
      for (const row of rows ?? columns.v.keys()) {
        const record = Object.fromEntries(LEDGER_COLUMNS.map((name) => [name, columns[name][row]]));
        lines.push(decodeLine(record as unknown as LedgerRecord));
        await pause();
      }
      return lines;
    },

    async rowGroupsOfJob(jobId) {
      const hash = hashParquetValue(jobId, { name: 'jobId', type: 'BYTE_ARRAY', converted_type: 'UTF8' });
      return rowGroups.flatMap((_, index) => {
        const column = metadata.row_groups[index]?.columns.find(
          ({ meta_data: meta }) => meta?.path_in_schema[0] === 'jobId',
        );
        const offset = column?.meta_data?.bloom_filter_offset;
        // Without a job there is no filter.
        if (offset === undefined || hash === undefined) return [];
        const view = new DataView(whole.buffer, whole.byteOffset, whole.byteLength);
        const filter = readBloomFilter({ view, offset: Number(offset) });
        return filter && sbbfContains(filter.blocks, hash) ? [index] : [];
      });
    },
  };
}

async function readColumn(whole: Buffer, metadata: FileMetaData, rowGroup: number, name: LedgerColumn) {
  const group = metadata.row_groups[rowGroup];
  if (group === undefined) throw new RangeError(`there is no row group ${rowGroup}`);
  const values: unknown[] = [];
  await parquetRead({
    file: {
      byteLength: whole.length,
      slice: (start, end) => new Uint8Array(whole.subarray(start, end)).buffer,
    },
    metadata: { ...metadata, row_groups: [group] },
    columns: [name],
    compressors: { GZIP: (input, length) => (length === 0 ? new Uint8Array() : gunzipSync(input)) },
    parsers: { timestampFromMilliseconds: Number },
    onChunk: ({ columnData }) => {
      for (const value of columnData) values.push(value);
    },
  });
  if (name === 'bytes') return values.map(Number);
  if (name !== 'items') return values;
  return (values as { size: bigint }[][]).map((items) =>
    items.map((item) => ({ ...item, size: Number(item.size) })),
  );
}

/** Bytes from `start` to before `end`; null when the object is missing. */
async function readRange(
  store: ObjectStore,
  key: string,
  start: number,
  end: number,
): Promise<Buffer | null> {
  const reading = await store.read(key, { start, end: end - 1 });
  if (reading === null) return null;
  return buffer(reading.body).catch((cause: unknown) => {
    throw new StoreError('read', `${key} could not be read to its end`, { cause });
  });
}

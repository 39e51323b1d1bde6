import type { LedgerLine } from '../../domain/delivery.js';
import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { cooperativeYield } from '../../time/cooperative-yield.js';
import { type RunWork, runAtOnce } from '../../time/work-queue.js';
import { hourOfKey } from '../ledger-keys.js';
import { decodeColumn } from './decode-column.js';
import type { ByteRange } from './file-checks.js';
import { type JobBlooms, type JobProbe, mayHoldJob, parseBlooms, rangeOfBlooms } from './job-blooms.js';
import { decodeLine, LEDGER_COLUMNS, type LedgerColumn, type LedgerColumns } from './ledger-columns.js';
import { decoding, LedgerFileError } from './ledger-file-error.js';
import { chunksOf, type LedgerFooter, parseFooter, TRAILER_BYTES, verifyChunks } from './ledger-footer.js';
import { readRange } from './read-range.js';
import type { FileExtent } from './rollup-extent.js';

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

  /** Indexes of the row groups that may hold lines of one of the jobs: of all that do, and for each job some of the others. */
  rowGroupsOfJobs(jobs: readonly JobProbe[]): Promise<number[]>;
}

export interface LedgerRowGroup {
  readonly rows: number;
  /** Time of receipt of the first and of the last line, in milliseconds since the epoch. */
  readonly first: number;
  readonly last: number;
}

const HOUR = 3_600_000;
/** The footer we write has less than a kilobyte for every thousand rows: one read has it. */
const TAIL_BYTES = 128 * 1024;
const MAX_FOOTER_BYTES = 8 * 1024 * 1024;

/**
 * Reads the file's footer; null when the file is missing. Throws `StoreError`, and `LedgerFileError` for a damaged or
 * foreign file; so do the methods of the result. It holds some 3 KiB of memory for every thousand rows.
 *
 * @param extent what the file's rollup says of it, where the caller knows it: a file that differs is rejected
 * @param run decodes footer and bloom filters
 */
export async function openLedgerFile(
  store: ObjectStore,
  key: string,
  extent?: FileExtent,
  run = runAtOnce,
): Promise<LedgerFile | null> {
  const bytes = extent?.bytes ?? (await store.head(key))?.size;
  if (bytes === undefined) return null;
  const tail = await readFooter(store, key, bytes);
  if (tail === null) return null;
  const footer = await decoding(key, () => run(() => parseFooter(tail, bytes)));
  const file = createLedgerFile(store, key, bytes, footer, run);
  if (extent !== undefined && !hasExtent(file, extent))
    throw new LedgerFileError(key, 'its lines are not those of its rollup');
  return file;
}

/**
 * Indexes of the row groups that a search reads: all of them without `jobs`, and where the bloom filters are damaged, which
 * `fault` says.
 */
export async function rowGroupsToRead(
  file: LedgerFile,
  jobs: readonly JobProbe[] | null,
): Promise<{ readonly indexes: readonly number[]; readonly fault: string | null }> {
  const all = [...file.rowGroups.keys()];
  if (jobs === null) return { indexes: all, fault: null };
  try {
    return { indexes: await file.rowGroupsOfJobs(jobs), fault: null };
  } catch (error) {
    if (!(error instanceof LedgerFileError)) throw error;
    return { indexes: all, fault: error.message };
  }
}

function hasExtent({ rows, rowGroups }: LedgerFile, extent: FileExtent): boolean {
  const { first, last } = extent;
  return rows === extent.rows && rowGroups[0]?.first === first && rowGroups.at(-1)?.last === last;
}

/** Throws `LedgerFileError` for a file without lines of its hour: where its rollup is not known, it may be a copy of another. */
export function checkHour({ key, rowGroups }: LedgerFile): void {
  const hour = hourOfKey(key);
  if (rowGroups.every(({ first, last }) => last < hour || first >= hour + HOUR))
    throw new LedgerFileError(key, 'its lines are of another hour');
}

function createLedgerFile(
  store: ObjectStore,
  key: string,
  bytes: number,
  footer: LedgerFooter,
  run: RunWork,
): LedgerFile {
  const { groups } = footer;
  let blooms: JobBlooms | null = null;

  async function read(range: ByteRange): Promise<Buffer> {
    const content = await readRange(store, key, bytes, range);
    if (content === null) throw new StoreError('read', `${key} is missing`);
    return content;
  }

  async function readColumns<Column extends LedgerColumn>(rowGroup: number, columns: readonly Column[]) {
    if (groups[rowGroup] === undefined) throw new RangeError(`${key} has no row group ${rowGroup}`);
    const group = await decoding(key, () => footer.describe(rowGroup));
    const { chunks, range } = chunksOf(group, columns);
    const content = await read(range);
    return decoding(key, async () => {
      const pause = cooperativeYield();
      verifyChunks(chunks, content, range);
      const result: Partial<Record<LedgerColumn, unknown>> = {};
      for (const name of columns) {
        result[name] = group.names.includes(name)
          ? await decodeColumn(name, group.metadata, content, range)
          : new Array(group.rows).fill(null);
        await pause();
      }
      return result as LedgerColumns<Column>;
    });
  }

  return {
    key,
    bytes,
    rows: groups.reduce((sum, { rows }) => sum + rows, 0),
    rowGroups: groups,
    readColumns,

    async readLines(rowGroup, rows) {
      const columns = await readColumns(rowGroup, LEDGER_COLUMNS);
      return decoding(key, async () => {
        const pause = cooperativeYield();
        const lines: LedgerLine[] = [];
        for (const row of rows ?? columns.v.keys()) {
          lines.push(decodeLine(columns, row));
          await pause();
        }
        return lines;
      });
    },

    async rowGroupsOfJobs(jobs) {
      const range = await decoding(key, () => rangeOfBlooms(footer));
      if (range === null) return [];
      if (blooms === null) {
        const content = await read(range);
        blooms = await decoding(key, () => run(() => parseBlooms(groups, content)));
      }
      const found: number[] = [];
      const pause = cooperativeYield();
      for (const [index, filter] of blooms.entries()) {
        if (mayHoldJob(filter, jobs)) found.push(index);
        await pause();
      }
      return found;
    },
  };
}

/** The end of the file, footer included; null when it is missing. */
async function readFooter(store: ObjectStore, key: string, size: number): Promise<Buffer | null> {
  if (size < TRAILER_BYTES) throw new LedgerFileError(key, `it has ${size} bytes`);
  const start = Math.max(0, size - TAIL_BYTES);
  const tail = await readRange(store, key, size, { start, end: size });
  if (tail === null) return null;
  const length = tail.readUInt32LE(tail.length - TRAILER_BYTES) + TRAILER_BYTES;
  if (length <= tail.length) return tail;
  if (length > Math.min(size, MAX_FOOTER_BYTES))
    throw new LedgerFileError(key, `a footer of ${length} bytes`);
  const rest = await readRange(store, key, size, { start: size - length, end: start });
  return rest === null ? null : Buffer.concat([rest, tail]);
}

import { crc32 } from 'node:zlib';
import type { LedgerLine } from '../../domain/delivery.js';
import type { ObjectStore } from '../../store/object-store.js';
import { cooperativeYield } from '../../time/cooperative-yield.js';
import { createWorkQueue } from '../../time/work-queue.js';
import type { RollupParquet, RollupRowGroup } from '../rollup/rollup.js';
import { decodeColumn } from './decode-column.js';
import { type JobBlooms, type JobProbe, mayHoldJob, parseBlooms } from './job-blooms.js';
import { decodeLine, LEDGER_COLUMNS, type LedgerColumn, type LedgerColumns } from './ledger-columns.js';
import { LedgerFileError } from './ledger-file-error.js';
import { chunksOf, damagedChunk, type LedgerFooter, parseFooter } from './ledger-footer.js';
import { readRange } from './read-range.js';

/** A line of a file, with the store's time of its segment in milliseconds since the epoch. */
interface FiledLine {
  readonly line: LedgerLine;
  readonly writtenAt: number;
}

/** A Parquet file of ledger lines, read by ranges. Its rows are in the order of the ledger. */
export interface LedgerFile {
  readonly key: string;
  /** In the order of the rows. */
  readonly rowGroups: readonly RollupRowGroup[];

  /**
   * Reads lines of a row group, in their order.
   *
   * @param rows indexes within the row group, ascending; default all of them
   * @param known columns of the row group that were read before: they are neither fetched nor decoded again
   */
  readLines(rowGroup: number, rows?: readonly number[], known?: Partial<LedgerColumns>): Promise<FiledLine[]>;

  /**
   * Reads some columns of a row group: for every row an entry in each. Values that no column can hold are null, 0 or
   * empty here; `readLines` has them.
   */
  readColumns<Column extends LedgerColumn>(
    rowGroup: number,
    columns: readonly Column[],
  ): Promise<LedgerColumns<Column>>;

  /**
   * Indexes of the row groups that may hold lines of one of the jobs: of all that do, and for each job some of the others. Rejects
   * with `LedgerFileError` when the bloom filters are damaged: the rows may be sound.
   */
  rowGroupsOfJobs(jobs: readonly JobProbe[]): Promise<number[]>;
}

const decode = createWorkQueue();

/**
 * Opens a file as its rollup describes it. Throws `StoreError`, and `LedgerFileError` for a file that is missing, damaged, or another
 * one than that of the rollup; so do the methods of the result. What the checksums vouch for is believed.
 */
export async function openLedgerFile(store: ObjectStore, parquet: RollupParquet): Promise<LedgerFile> {
  const { key, bytes, filters, footer, footerCrc } = parquet;
  const tail = await readRange(store, key, bytes, { start: bytes - footer - filters, end: bytes });
  if (crc32(tail.subarray(filters)) !== footerCrc)
    throw new LedgerFileError(key, 'it is not the file of its rollup, or damaged');
  return createLedgerFile(store, parquet, tail);
}

function createLedgerFile(
  store: ObjectStore,
  { key, bytes, groups, filters, filtersCrc }: RollupParquet,
  tail: Buffer,
): LedgerFile {
  let footer: LedgerFooter | null = null;
  let blooms: JobBlooms | null = null;

  async function readColumns<Column extends LedgerColumn>(rowGroup: number, columns: readonly Column[]) {
    footer ??= await decode(() => parseFooter(tail));
    const { metadata, chunks, range } = chunksOf(footer, rowGroup, columns);
    const content = await readRange(store, key, bytes, range);
    const damaged = damagedChunk(chunks, content, range);
    if (damaged !== undefined)
      throw new LedgerFileError(key, `bytes ${damaged.range.start} to ${damaged.range.end} are damaged`);
    const pause = cooperativeYield();
    const result: Partial<Record<LedgerColumn, unknown>> = {};
    for (const name of columns) {
      result[name] = await decodeColumn(name, metadata, content, range);
      await pause();
    }
    return result as LedgerColumns<Column>;
  }

  return {
    key,
    rowGroups: groups,
    readColumns,

    async readLines(rowGroup, rows, known = {}) {
      const missing = LEDGER_COLUMNS.filter((name) => known[name] === undefined);
      const columns = { ...known, ...(await readColumns(rowGroup, missing)) } as LedgerColumns;
      const pause = cooperativeYield();
      const lines: FiledLine[] = [];
      for (const row of rows ?? columns.v.keys()) {
        lines.push({ line: decodeLine(columns, row), writtenAt: columns.writtenAt[row] ?? 0 });
        await pause();
      }
      return lines;
    },

    async rowGroupsOfJobs(jobs) {
      blooms ??= await decode(() => {
        const content = tail.subarray(0, filters);
        if (crc32(content) !== filtersCrc) throw new LedgerFileError(key, 'its bloom filters are damaged');
        return parseBlooms(groups, content);
      });
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

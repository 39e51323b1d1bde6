import type { LedgerLine } from '../../../src/domain/delivery.js';
import { dailyRollupKey, hourFolder, parquetKey, rollupKey } from '../../../src/ledger/ledger-keys.js';
import { writeLedgerFile } from '../../../src/ledger/parquet/ledger-parquet.js';
import { type SortableLine, sortLines } from '../../../src/ledger/parquet/sort-lines.js';
import { buildRollup } from '../../../src/ledger/rollup/build-rollup.js';
import type { CoveredNumbers, Rollup, RollupParquet } from '../../../src/ledger/rollup/rollup.js';
import { encodeRollup } from '../../../src/ledger/rollup/rollup-document.js';
import { sumRollups } from '../../../src/ledger/rollup/sum-rollups.js';
import type { MemoryStore } from '../store/memory-store.js';

/** What a file of an hour is beside its lines. */
interface FileOfHour {
  /** Default: `n`, as of the last file of an hour. */
  readonly files?: number;
  readonly previous?: string | null;
  readonly writers?: CoveredNumbers;
  readonly parquet?: RollupParquet;
}

const NO_FILE = { bytes: 1, filters: 0, filtersCrc: 0, footer: 1, footerCrc: 0, groups: [] };

/** Lines as if each had been written when it was received. */
export function sortable(lines: readonly LedgerLine[]): SortableLine[] {
  return sortLines(
    lines.map((line) => ({
      writtenAt: Date.parse(line.receivedAt),
      deliveryId: line.deliveryId,
      outcome: line.outcome,
      text: JSON.stringify(line),
    })),
  );
}

/** The rollup of a file of an hour, without the file. */
async function rollupOf(
  hour: string,
  n: number,
  lines: readonly LedgerLine[],
  { files = n, previous = null, writers = {}, ...more }: FileOfHour = {},
): Promise<Rollup> {
  const folder = hourFolder(hour);
  const builder = buildRollup();
  for (const { text, writtenAt } of sortable(lines)) builder.add(JSON.parse(text), writtenAt);
  const parquet = more.parquet ?? { key: parquetKey(folder, n), ...NO_FILE };
  return builder.finish({ hour: folder, n, files, previous, writers, parquet, broken: 0, newer: 0 });
}

/** Puts the n-th rollup of an hour into a store, without its file. Returns its key. */
export async function putRollup(
  store: MemoryStore,
  hour: string,
  n: number,
  lines: readonly LedgerLine[],
  file: FileOfHour = {},
): Promise<string> {
  const key = rollupKey(hourFolder(hour), n);
  store.put(key, encodeRollup(await rollupOf(hour, n, lines, file)).toString());
  return key;
}

/** The same with the file. */
export async function putCompacted(
  store: MemoryStore,
  hour: string,
  n: number,
  lines: readonly LedgerLine[],
  file: FileOfHour = {},
): Promise<string> {
  const key = parquetKey(hourFolder(hour), n);
  const parquet = await writeLedgerFile(store, key, sortable(lines));
  return putRollup(store, hour, n, lines, { ...file, parquet });
}

/** Puts the rollup of a day into a store, over the rollups of hours with these keys. Returns its key. */
export function putDaily(store: MemoryStore, day: string, keys: readonly string[]): string {
  const rollups = keys.map((key) => JSON.parse(String(store.objects.get(key)?.body)) as Rollup);
  const key = dailyRollupKey(day);
  store.put(key, encodeRollup(sumRollups(day, rollups)).toString());
  return key;
}

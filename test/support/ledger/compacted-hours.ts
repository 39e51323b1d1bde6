import type { LedgerLine } from '../../../src/domain/delivery.js';
import { buildRollup } from '../../../src/ledger/compact/build-rollup.js';
import { writeLedgerFile } from '../../../src/ledger/compact/ledger-parquet.js';
import type { Rollup } from '../../../src/ledger/compact/rollup.js';
import { sortLines } from '../../../src/ledger/compact/sort-lines.js';
import { sumRollups } from '../../../src/ledger/compact/sum-rollups.js';
import { dailyRollupKey, hourFolder, parquetKey, rollupKey } from '../../../src/ledger/ledger-keys.js';
import type { MemoryStore } from '../store/memory-store.js';

/**
 * Puts the n-th rollup of an hour into a store, without its file. Returns its key.
 *
 * @param segments keys of the segments it covers
 */
export async function putRollup(
  store: MemoryStore,
  hour: string,
  n: number,
  lines: readonly LedgerLine[],
  segments: readonly string[] = [],
): Promise<string> {
  const folder = hourFolder(hour);
  const key = rollupKey(folder, n);
  const builder = buildRollup();
  for (const { text } of await sorted(lines)) builder.add(JSON.parse(text) as LedgerLine);
  const rollup = builder.finish({
    ...{ hour: folder, broken: 0, newer: 0 },
    segments: segments.map((name) => name.slice(name.lastIndexOf('/') + 1)),
    parquet: { key: parquetKey(folder, n), bytes: 1 },
  });
  store.put(key, JSON.stringify(rollup));
  return key;
}

/** The same with the file. */
export async function putCompacted(
  store: MemoryStore,
  hour: string,
  n: number,
  lines: readonly LedgerLine[],
): Promise<string> {
  await writeLedgerFile(store, parquetKey(hourFolder(hour), n), await sorted(lines));
  return putRollup(store, hour, n, lines);
}

function sorted(lines: readonly LedgerLine[]) {
  return sortLines(lines.map((line) => ({ ...line, text: JSON.stringify(line) })));
}

/** Puts the n-th rollup of a day into a store, over the rollups of hours with these keys. Returns its key. */
export function putDaily(store: MemoryStore, day: string, n: number, keys: readonly string[]): string {
  const rollups = keys.map((key) => {
    return { key, rollup: JSON.parse(String(store.objects.get(key)?.body)) as Rollup };
  });
  const key = dailyRollupKey(day, n);
  store.put(key, JSON.stringify(sumRollups(day, rollups)));
  return key;
}

import type { ObjectStore } from '../../store/object-store.js';
import { DOCUMENT_HEADERS } from '../../store/read-document.js';
import { DAILY_ROLLUPS_FOLDER, dailyRollupKey } from '../ledger-keys.js';
import { lostRollup } from './hour-files.js';
import { LedgerFileError } from './ledger-file-error.js';
import { listRollups } from './list-rollups.js';
import { openLedgerFile } from './open-ledger-file.js';
import { readDailyRollup, readRollup } from './read-rollup.js';
import type { Rollup } from './rollup.js';
import { extentOf } from './rollup-extent.js';
import { sumRollups } from './sum-rollups.js';

/**
 * Adds up the rollups of a day that no daily rollup covers. Resolves to whether it wrote one. Several processes may do so
 * at once: the one that creates the next number has listed what all before it cover. Throws `StoreError`.
 *
 * @param onFault called with each Parquet file of the day that is missing, damaged or another one; the sum does not need it
 */
export async function writeDailyRollup(
  store: ObjectStore,
  day: string,
  onFault?: (reason: string) => void,
): Promise<boolean> {
  for (;;) {
    const covered = new Set<string>();
    let last = 0;
    for await (const { key } of store.list(`${DAILY_ROLLUPS_FOLDER}dt=${day}/`)) {
      const n = Number(/\/(\d{4,9})\.json$/.exec(key)?.[1]);
      if (Number.isNaN(n)) continue;
      last = Math.max(last, n);
      const daily = await readDailyRollup(store, key);
      if (daily === null) throw new LedgerFileError(key, 'it is no rollup of its day and version');
      for (const covers of daily.covers) covered.add(covers);
    }
    const rollups = await readRollups(store, day, covered, onFault);
    if (rollups.length === 0) return false;
    const body = Buffer.from(JSON.stringify(sumRollups(day, rollups)));
    if ((await store.create(dailyRollupKey(day, last + 1), body, DOCUMENT_HEADERS)) === 'created')
      return true;
  }
}

async function readRollups(
  store: ObjectStore,
  day: string,
  covered: ReadonlySet<string>,
  onFault?: (reason: string) => void,
) {
  const rollups: { readonly key: string; readonly rollup: Rollup }[] = [];
  const listed = await listRollups(store, `dt=${day}/`);
  const [lost] = listed.lost;
  if (lost !== undefined) throw lostRollup(lost);
  for (const { key } of listed.rollups) {
    if (covered.has(key)) continue;
    const rollup = await readRollup(store, key);
    if (rollup === null) throw new LedgerFileError(key, 'it is no rollup of its hour and version');
    const fault = await faultOf(store, rollup);
    if (fault !== null) onFault?.(fault);
    // Their sum needs neither names nor lines, which would be gigabytes for a day of 100 million.
    rollups.push({ key, rollup: { ...rollup, segments: [], attention: rollup.attention.slice(0, 1) } });
  }
  return rollups;
}

/** Why the end of the Parquet file does not agree with its rollup; null when it does. */
async function faultOf(store: ObjectStore, rollup: Rollup): Promise<string | null> {
  const extent = extentOf(rollup);
  if (rollup.parquet === null || extent === null) return null;
  const { key } = rollup.parquet;
  try {
    if ((await openLedgerFile(store, key, extent)) !== null) return null;
    return new LedgerFileError(key, 'it is missing').message;
  } catch (error) {
    if (error instanceof LedgerFileError) return error.message;
    throw error;
  }
}

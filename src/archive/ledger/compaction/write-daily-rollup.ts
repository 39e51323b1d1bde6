import { type ObjectStore, StoreError } from '../../../store/object-store.js';
import { DOCUMENT_HEADERS } from '../../../store/read-document.js';
import { DAILY_ROLLUPS_FOLDER, dailyRollupKey, ROLLUPS_FOLDER } from '../../layout.js';
import { readDailyRollup, readRollup } from './read-rollup.js';
import type { Rollup } from './rollup.js';
import { sumRollups } from './sum-rollups.js';

/**
 * Adds up the rollups of a day that no daily rollup covers. Resolves to whether it wrote one. Several processes may do so
 * at once: the one that creates the next number has listed what all before it cover. Throws `StoreError`.
 */
export async function writeDailyRollup(store: ObjectStore, day: string): Promise<boolean> {
  for (;;) {
    const covered = new Set<string>();
    let last = 0;
    for await (const { key } of store.list(`${DAILY_ROLLUPS_FOLDER}dt=${day}/`)) {
      const n = Number(/\/(\d{4,9})\.json$/.exec(key)?.[1]);
      if (Number.isNaN(n)) continue;
      last = Math.max(last, n);
      const daily = await readDailyRollup(store, key);
      if (daily === null)
        throw new StoreError('read', `${key} is no daily rollup, or one of a newer version`);
      for (const covers of daily.covers) covered.add(covers);
    }
    const rollups = await readRollups(store, day, covered);
    if (rollups.length === 0) return false;
    const body = Buffer.from(JSON.stringify(sumRollups(day, rollups)));
    if ((await store.create(dailyRollupKey(day, last + 1), body, DOCUMENT_HEADERS)) === 'created')
      return true;
  }
}

async function readRollups(store: ObjectStore, day: string, covered: ReadonlySet<string>) {
  const rollups: { readonly key: string; readonly rollup: Rollup }[] = [];
  for await (const { key } of store.list(`${ROLLUPS_FOLDER}dt=${day}/`)) {
    if (covered.has(key) || !/\/hour=\d\d\/\d{4,9}\.json$/.test(key)) continue;
    const rollup = await readRollup(store, key);
    if (rollup === null) throw new StoreError('read', `${key} is no rollup, or one of a newer version`);
    // Their sum needs neither names nor lines, which would be gigabytes for a day of 100 million.
    rollups.push({ key, rollup: { ...rollup, segments: [], attention: rollup.attention.slice(0, 1) } });
  }
  return rollups;
}

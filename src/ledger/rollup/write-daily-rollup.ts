import type { ObjectStore } from '../../store/object-store.js';
import { DOCUMENT_HEADERS } from '../../store/read-document.js';
import { readHourFiles } from '../compact/hour-files.js';
import { dailyRollupKey, rollupKey } from '../ledger-keys.js';
import type { Rollup } from './rollup.js';
import { sumRollups } from './sum-rollups.js';

/**
 * Adds up the rollups of a day whose hours are all compacted. Resolves to whether it wrote the sum. Several processes make the same.
 * Throws `StoreError`.
 *
 * @param hours folders of the day's hours
 */
export async function writeDailyRollup(
  store: ObjectStore,
  day: string,
  hours: readonly string[],
): Promise<boolean> {
  const key = dailyRollupKey(day);
  if ((await store.head(key)) !== null) return false;
  const rollups: { readonly key: string; readonly rollup: Rollup }[] = [];
  for (const hour of hours) {
    for (const rollup of (await readHourFiles(store, hour)).rollups) {
      // Their sum needs neither ranges nor lines, which would be gigabytes for a day of 100 million.
      const slim = { ...rollup, writers: {}, attention: rollup.attention.slice(0, 1) };
      rollups.push({ key: rollupKey(hour, rollup.n), rollup: slim });
    }
  }
  if (rollups.length === 0) return false;
  const body = Buffer.from(JSON.stringify(sumRollups(day, rollups)));
  return (await store.create(key, body, DOCUMENT_HEADERS)) === 'created';
}

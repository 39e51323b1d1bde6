import type { ObjectStore } from '../../store/object-store.js';
import { DOCUMENT_HEADERS } from '../../store/read-document.js';
import { dailyRollupKey } from '../ledger-keys.js';
import type { ChartRollup } from '../rollup/rollup.js';
import { encodeRollup } from '../rollup/rollup-document.js';
import { sumRollups } from '../rollup/sum-rollups.js';
import { readHourFiles } from './hour-files.js';

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
  const rollups: Pick<ChartRollup, 'slots' | 'lastAccepted'>[] = [];
  for (const folder of hours) {
    const { rollups: ofHour } = await readHourFiles(store, folder);
    // Their ranges and lines would be gigabytes for a day of 100 million.
    rollups.push(...ofHour.map(({ slots, lastAccepted }) => ({ slots, lastAccepted })));
  }
  if (rollups.length === 0) return false;
  return (await store.create(key, encodeRollup(sumRollups(day, rollups)), DOCUMENT_HEADERS)) === 'created';
}

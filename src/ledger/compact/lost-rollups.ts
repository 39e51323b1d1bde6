import type { ObjectStore } from '../../store/object-store.js';
import { DAILY_ROLLUPS_FOLDER } from '../ledger-keys.js';
import { LedgerFileError } from './ledger-file-error.js';
import { listRollups } from './list-rollups.js';
import { readDailyCovers } from './read-rollup.js';

/**
 * Finds hours that were lost with all their files: daily rollups name the rollups that they count. Yields a damaged daily
 * rollup as well. Throws `StoreError`.
 *
 * @param window ISO 8601
 */
export async function* lostRollups(
  store: ObjectStore,
  window: { readonly since: string; readonly until: string },
): AsyncGenerator<LedgerFileError> {
  for await (const folder of store.folders(DAILY_ROLLUPS_FOLDER)) {
    const day = folder.slice(DAILY_ROLLUPS_FOLDER.length);
    const date = day.slice('dt='.length, -1);
    if (date < window.since.slice(0, 10) || date > window.until.slice(0, 10)) continue;
    const { rollups } = await listRollups(store, day);
    const existing = new Set(rollups.map(({ key }) => key));
    for await (const { key } of store.list(folder)) {
      if (!key.endsWith('.json')) continue;
      const daily = await readDailyCovers(store, key);
      if (daily === null) yield new LedgerFileError(key, 'it is no rollup of its day and version');
      for (const covered of daily?.covers ?? []) {
        if (!existing.has(covered)) yield new LedgerFileError(covered, `it is missing, but ${key} counts it`);
      }
    }
  }
}

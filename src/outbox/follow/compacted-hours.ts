import { ROLLUPS_FOLDER } from '../../ledger/ledger-keys.js';
import type { ObjectStore } from '../../store/object-store.js';
import { DAY, folderOf } from './hour-folders.js';

/** How long compacted hours are remembered; later files of older ones are not noticed. */
export const COMPACTED_HORIZON = 92 * DAY;

/** The number of the last compacted file of each hour since an instant in milliseconds. */
export async function listCompactedHours(store: ObjectStore, since: number): Promise<Map<string, number>> {
  const files = new Map<string, number>();
  for await (const { key } of store.list(ROLLUPS_FOLDER, { startAfter: ROLLUPS_FOLDER + folderOf(since) })) {
    const [, hour, n] = /^rollups\/(dt=[^/]+\/hour=\d\d\/)(\d{4,9})\.json$/.exec(key) ?? [];
    if (hour !== undefined) files.set(hour, Math.max(files.get(hour) ?? 0, Number(n)));
  }
  return files;
}

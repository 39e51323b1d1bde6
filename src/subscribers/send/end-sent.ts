import { sentFolder } from '../../ledger/ledger-keys.js';
import { inGroups } from '../../store/in-groups.js';
import type { ObjectStore } from '../../store/object-store.js';

const DAY = 86_400_000;
const AT_ONCE = 8;
const DAY_FOLDER = /\/dt=(\d{4}-\d\d-\d\d)\/$/;

/**
 * Removes what was sent to a subscriber on days that ended before an instant, in milliseconds since the epoch. Throws `StoreError`, and the
 * signal's reason.
 */
export async function endSent(
  store: ObjectStore,
  subscriber: string,
  before: number,
  signal: AbortSignal,
): Promise<void> {
  for await (const folder of store.folders(sentFolder(subscriber))) {
    const day = Date.parse(DAY_FOLDER.exec(folder)?.[1] ?? '');
    if (!(day + DAY <= before)) continue;
    for await (const group of inGroups(store.list(folder, { signal }), AT_ONCE)) {
      await Promise.all(group.map(({ key }) => store.delete(key)));
      signal.throwIfAborted();
    }
  }
}

import { hourAt } from '../../ledger/hours.js';
import { mergedFolder, sentFolder } from '../../ledger/ledger-keys.js';
import { hoursInOrder } from '../../ledger/log/log-hours.js';
import { readMergedHour } from '../../ledger/log/merge-record.js';
import { endSegments } from '../../ledger/merge/end-segments.js';
import type { MergeParts } from '../../ledger/merge/merge-parts.js';
import { inGroups } from '../../store/in-groups.js';

const AT_ONCE = 8;

/**
 * Removes the hours of what was sent to a subscriber that began before an instant, in milliseconds since the epoch, and the segments of the
 * others that their merged hour has. Throws `StoreError`, and the signal's reason.
 */
export async function endSent(
  { store, clock }: Pick<MergeParts, 'store' | 'clock'>,
  subscriber: string,
  before: number,
  signal: AbortSignal,
): Promise<void> {
  const folder = sentFolder(subscriber);
  const end = hourAt(before);
  // Segments whose merged hour ended first would be merged again.
  for (const root of [folder, mergedFolder(folder)]) {
    const hours = hoursInOrder(store, 'oldest', Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, [root]);
    for await (const hour of hours) {
      signal.throwIfAborted();
      if (hour < end) await deleteAll(store, root + hour, signal);
      else if (root === folder)
        await endSegments({ store, clock, folder }, hour, await readMergedHour(store, hour, folder), {
          signal,
        });
    }
  }
}

async function deleteAll(store: MergeParts['store'], folder: string, signal: AbortSignal): Promise<void> {
  for await (const group of inGroups(store.list(folder, { signal }), AT_ONCE)) {
    await Promise.all(group.map(({ key }) => store.delete(key)));
    signal.throwIfAborted();
  }
}

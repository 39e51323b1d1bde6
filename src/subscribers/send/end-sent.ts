import { hourAt } from '../../ledger/hours.js';
import { mergedFolder, sentFolder } from '../../ledger/ledger-keys.js';
import { hoursInOrder, ledgerFolders } from '../../ledger/log/log-hours.js';
import { readMergedHour } from '../../ledger/log/merge-record.js';
import { deleteEach } from '../../ledger/merge/delete-each.js';
import { endSegments } from '../../ledger/merge/end-segments.js';
import type { MergeParts } from '../../ledger/merge/merge-parts.js';
import { retryingListings } from '../../ledger/retrying-reads.js';
import { StoreError } from '../../store/object-store.js';
import { createOutageCheck } from '../../store/outage-check.js';

const AT_ONCE = 8;
/** Hours that failed in a row, after which the store is asked whether it answers at all. */
const MAX_FAILURES = 5;

/**
 * Removes the hours of what was sent to a subscriber that began before an instant, in milliseconds since the epoch, and the segments of the
 * others that their merged hour has. An hour that fails keeps no other: throws the first `StoreError` in the end, or at once while the store
 * does not answer, and the signal's reason.
 */
export async function endSent(
  given: Pick<MergeParts, 'store' | 'clock'>,
  subscriber: string,
  before: number,
  signal: AbortSignal,
): Promise<void> {
  const store = retryingListings(given.store);
  const folder = sentFolder(subscriber);
  const end = hourAt(before);
  const outage = createOutageCheck(MAX_FAILURES, () => store.identity());
  let first: StoreError | null = null;
  /** Hours that failed. Segments whose merged hour ended first would be merged again. */
  const left = new Set<string>();

  async function endHour(root: string, hour: string): Promise<void> {
    if (hour < end) return deleteAll(store, root + hour, signal);
    if (root !== folder) return;
    const parts = { store, clock: given.clock, folder };
    await endSegments(parts, hour, await readMergedHour(store, hour, folder), { signal });
  }

  // Where it cannot be listed at all, its hours below would seem to be none.
  await ledgerFolders(store, '', [folder]);
  signal.throwIfAborted();
  for (const root of [folder, mergedFolder(folder)]) {
    const hours = hoursInOrder(store, 'oldest', Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, [root]);
    for await (const hour of hours) {
      signal.throwIfAborted();
      if (left.has(hour)) continue;
      try {
        await endHour(root, hour);
        outage.succeeded();
      } catch (error) {
        if (!(error instanceof StoreError) || (await outage.failed())) throw error;
        first ??= error;
        left.add(hour);
      }
    }
  }
  if (first !== null) throw first;
}

async function deleteAll(store: MergeParts['store'], folder: string, signal: AbortSignal): Promise<void> {
  await deleteEach(store, store.keys(folder, { signal }), AT_ONCE, () => signal.throwIfAborted());
}

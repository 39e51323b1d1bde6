import { type ObjectStore, PartialListingError } from '../../store/object-store.js';
import { startOfHour } from '../hours.js';
import { mergedFolder, recordKey } from '../ledger-keys.js';

/** The last hour with lines before another one, as the merge record of the later one names it. */
export interface PreviousHour {
  readonly hour: string;
  /** Folder of its segments. */
  readonly folder: string;
}

/**
 * Throws `PartialListingError` when listed hours lack one that later records name and whose own record exists: what was read would count as
 * complete.
 *
 * @param since milliseconds since the epoch; all hours from then on should have been listed
 */
export async function assertPreviousListed(
  store: Pick<ObjectStore, 'head'>,
  previous: readonly PreviousHour[],
  since: number,
): Promise<void> {
  for (const { hour, folder } of previous) {
    const key = recordKey(folder, hour, 1);
    if (startOfHour(hour) >= since && (await store.head(key)) !== null)
      throw new PartialListingError(mergedFolder(folder), key);
  }
}

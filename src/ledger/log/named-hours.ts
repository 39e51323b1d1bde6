import { type ObjectStore, PartialListingError } from '../../store/object-store.js';
import { startOfHour } from '../hours.js';
import { mergedFolder, recordKey } from '../ledger-keys.js';

/** The last hour with lines before another one, as a record of that names it. */
export interface NamedHour {
  readonly hour: string;
  /** Folder of its segments. */
  readonly folder: string;
}

/**
 * Throws `PartialListingError` where a walk through listed hours has passed over one that records name and whose own record is there: what
 * was read would be taken for everything.
 *
 * @param since milliseconds since the epoch: the walk has passed over hours that began then or later
 */
export async function assertListed(
  store: Pick<ObjectStore, 'head'>,
  named: readonly NamedHour[],
  since: number,
): Promise<void> {
  for (const { hour, folder } of named) {
    const key = recordKey(folder, hour, 1);
    if (startOfHour(hour) >= since && (await store.head(key)) !== null)
      throw new PartialListingError(mergedFolder(folder), key);
  }
}

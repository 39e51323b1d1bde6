import { announcedEvent } from '../../domain/announced-event.js';
import type { LedgerLine } from '../../domain/delivery.js';
import { waitAtMost } from '../../lib/time/deadline.js';
import type { LedgerView } from '../ledger-view.js';
import { writtenRange } from './find-deliveries.js';

/**
 * Whether a delivery has a ledger line that announces what it stored; false where the index does not say it. Events must not wait for an
 * index that is being built or cannot be read. Never rejects.
 *
 * @param within milliseconds in which new lines are read
 */
export function createRecordCheck(view: Pick<LedgerView, 'refresh' | 'lines'>, within: number) {
  return async ({ deliveryId, jobId, receivedAt }: LedgerLine): Promise<boolean> => {
    if (jobId === null) return false;
    const { since } = writtenRange([Date.parse(receivedAt)]);
    const announces = (line: LedgerLine) => line.deliveryId === deliveryId && announcedEvent(line) !== null;
    const isIndexed = async () => {
      for await (const lines of view.lines({ job: jobId, since })) if (lines.some(announces)) return true;
      return false;
    };
    try {
      // Mostly the line is old, and reading new ones takes listings.
      if (await isIndexed()) return true;
      await waitAtMost(within, view.refresh());
      return await isIndexed();
    } catch {
      // The index or the store fails.
      return false;
    }
  };
}

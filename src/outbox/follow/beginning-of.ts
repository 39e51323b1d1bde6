import type { ObjectStore } from '../../store/object-store.js';
import type { OutboxState } from '../outbox-state.js';
import { COMPACTED_HORIZON, listCompactedHours } from './compacted-hours.js';
import { createSentFiles, folderOf } from './hour-folders.js';

/** The first hour that can hold a delivery that ended after the subscription began. */
export function firstHour(since: number, closedAfter: number): string {
  return folderOf(since - closedAfter);
}

/**
 * Where a subscription begins: after the files of all hours that are compacted already. A file that is made later may hold
 * a delivery that ended since.
 */
export async function beginningOf(
  store: ObjectStore,
  since: number,
  closedAfter: number,
): Promise<Pick<OutboxState, 'next' | 'done'>> {
  const sent = createSentFiles({});
  for (const [hour, files] of await listCompactedHours(store, since - COMPACTED_HORIZON))
    sent.set(hour, files);
  return { next: firstHour(since, closedAfter), done: sent.document('') };
}

import { fetchFromLog } from '../ledger/log/merged-segments.js';
import type { ObjectStore } from '../store/object-store.js';
import { announcedAs } from './announcements.js';
import type { WaitingEvent } from './outbox-state.js';
import type { JobEvent } from './receiver-event.js';

/**
 * The event that waits, read from the ledger; null when the line is gone. Throws as the store does, and when something is damaged that may
 * have the line.
 */
export async function findEvent(
  store: ObjectStore,
  { id, jobId, segment }: WaitingEvent,
): Promise<JobEvent | null> {
  const { entries = [] } = (await fetchFromLog(store, segment))?.parse(jobId) ?? {};
  for (const { line } of entries) {
    if (line.jobId !== jobId) continue;
    const event = await announcedAs(store, line, id);
    if (event !== null) return event;
  }
  return null;
}

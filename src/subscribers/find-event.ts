import { HOUR, hourAt, startOfHour } from '../ledger/hours.js';
import { LEDGER_FOLDER } from '../ledger/ledger-keys.js';
import { readLines } from '../ledger/read/log/read-lines.js';
import type { ObjectStore } from '../store/object-store.js';
import { announcedAs } from './announcements.js';
import type { WaitingEvent } from './outbox-state.js';
import type { JobEvent } from './receiver-event.js';

const SECOND = 1_000;

/**
 * The event that waits, read from the ledger; null when the line is gone. Throws as the store does, and when a file is damaged that may
 * have the line.
 */
export async function findEvent(store: ObjectStore, waiting: WaitingEvent): Promise<JobEvent | null> {
  // S3 tells the time of an object in whole seconds in some of its answers, and a copied bucket has other times.
  const second = Math.floor(waiting.written / SECOND) * SECOND;
  const hour = startOfHour(hourAt(waiting.written));
  return (
    (await findWithin(store, waiting, second, second + SECOND)) ??
    (await findWithin(store, waiting, hour, hour + HOUR))
  );
}

async function findWithin(
  store: ObjectStore,
  { id, jobId: job, receivedAt }: WaitingEvent,
  since: number,
  until: number,
): Promise<JobEvent | null> {
  const faults: string[] = [];
  const onFault = (text: string, key: string) => {
    if (!key.startsWith(LEDGER_FOLDER)) faults.push(text);
  };
  for await (const line of readLines(store, { since, until, job, onFault })) {
    const event = line.receivedAt === receivedAt ? await announcedAs(store, line, id) : null;
    if (event !== null) return event;
  }
  if (faults.length > 0) throw new Error(faults.join(', '));
  return null;
}

import { decodeTime } from 'ulid';
import { readEndRecord } from '../archive/end-record.js';
import type { LedgerLine } from '../domain/delivery.js';
import type { ObjectStore } from '../store/object-store.js';
import { isUlid } from '../text/id-cursor.js';
import { eventOf, isRepetition, jobEventOf } from './job-event.js';
import type { JobEvent } from './receiver-event.js';

/** Ids that are remembered; a repetition of an older one is announced again, with the same id. */
const REMEMBERED = 10_000;

/** Events of ledger lines, each under the id of the delivery that stored what it announces. */
export interface Announcements {
  /** Null when the line announces nothing. Throws `StoreError`. */
  of(line: LedgerLine): Promise<JobEvent | null>;
  /** The sender could not take the event over: its line, or a repetition of it, announces it again. */
  forget(event: JobEvent): void;
}

/**
 * A delivery can store its artefacts and die before its ledger line is written. The line of the repetition is then the only
 * one: it announces them under the id of the delivery that stored them, so that they never have two ids.
 *
 * @param since milliseconds since the epoch: what was stored before is not announced
 */
export function createAnnouncements(
  store: Pick<ObjectStore, 'head' | 'location' | 'read'>,
  since: number,
): Announcements {
  const announced = new Set<string>();

  async function unannouncedCreator(line: LedgerLine): Promise<string | null> {
    for await (const creator of creatorsOf(store, line)) {
      if (decodeTime(creator) >= since && !announced.has(creator)) return creator;
    }
    return null;
  }

  function remember(id: string): void {
    announced.add(id);
    const [oldest] = announced;
    if (announced.size > REMEMBERED && oldest !== undefined) announced.delete(oldest);
  }

  async function eventFor(line: LedgerLine): Promise<JobEvent | null> {
    if (!isRepetition(line)) {
      const event = jobEventOf(line, store.location);
      return event !== null && (await isAnnouncedByRecovery(store, line)) ? null : event;
    }
    const creator = await unannouncedCreator(line);
    return creator === null ? null : repetitionOf(line, store.location, creator);
  }

  return {
    async of(line) {
      const event = await eventFor(line);
      if (event !== null) remember(event.id);
      return event;
    },
    forget({ id }) {
      announced.delete(id);
    },
  };
}

/** The event of a line again, by the id under which it was announced; null when the line did not announce it. */
export async function announcedAs(
  store: Pick<ObjectStore, 'head' | 'location'>,
  line: LedgerLine,
  id: string,
): Promise<JobEvent | null> {
  if (line.deliveryId === id) return eventOf(line, store.location);
  if (!isRepetition(line)) return null;
  for await (const creator of creatorsOf(store, line)) {
    if (creator === id) return repetitionOf(line, store.location, id);
  }
  return null;
}

/**
 * Whether a callback that stores nothing says once more that a job failed, after recovery has recorded and announced that. Throws
 * `StoreError`.
 */
async function isAnnouncedByRecovery(
  store: Pick<ObjectStore, 'read'>,
  { origin, outcome, jobId, source }: LedgerLine,
): Promise<boolean> {
  if (origin !== 'callback' || outcome !== 'noted' || jobId === null || source === null) return false;
  const record = await readEndRecord(store, jobId, source);
  return record?.recorded === true && record.deliveryId !== null;
}

/** Ids of the deliveries that created the artefacts of a line. */
async function* creatorsOf(store: Pick<ObjectStore, 'head'>, { items }: LedgerLine): AsyncGenerator<string> {
  for (const { key } of items) {
    const creator = (await store.head(key))?.metadata['delivery-id'] ?? '';
    if (isUlid(creator)) yield creator;
  }
}

function repetitionOf(line: LedgerLine, location: string, id: string): JobEvent | null {
  const event = eventOf(line, location);
  return event && { ...event, id };
}

import { decodeTime } from 'ulid';
import type { LedgerLine } from '../domain/delivery.js';
import type { JobEvent } from '../events/receiver-event.js';
import type { ObjectStore } from '../store/object-store.js';
import { isUlid } from '../text/id-cursor.js';
import { eventOf, isRepetition, jobEventOf } from './job-event.js';

/** Ids of deliveries that are remembered; a repetition of an older one may be announced without need. */
const REMEMBERED = 10_000;

/**
 * What each line announces that a sender reads. A delivery can store its artefacts and die before its ledger line is written:
 * the line of the repetition is then the only one, and announces them under its own id.
 *
 * @param since milliseconds since the epoch: what was stored before is not announced
 */
export function createAnnouncements(store: Pick<ObjectStore, 'head' | 'location'>, since: number) {
  const announced = new Set<string>();

  function remember(id: string): void {
    announced.add(id);
    const [oldest] = announced;
    if (announced.size > REMEMBERED && oldest !== undefined) announced.delete(oldest);
  }

  /** Whether an artefact of the line was created by a delivery whose line was not read. */
  async function hasUnannounced({ items }: LedgerLine): Promise<boolean> {
    for (const { key } of items) {
      // When the store fails, the event may be one too many.
      const info = await store.head(key).catch(() => undefined);
      if (info === undefined) return true;
      const creator = info?.metadata['delivery-id'] ?? '';
      if (!isUlid(creator) || decodeTime(creator) < since || announced.has(creator)) continue;
      remember(creator);
      return true;
    }
    return false;
  }

  return async (line: LedgerLine): Promise<JobEvent | null> => {
    const event = isRepetition(line)
      ? (await hasUnannounced(line)) && eventOf(line, store.location)
      : jobEventOf(line, store.location);
    if (!event) return null;
    remember(event.id);
    return event;
  };
}

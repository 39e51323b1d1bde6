import { decodeTime } from 'ulid';
import { readEndRecord } from '../archive/end-record.js';
import { isRepetition } from '../domain/announced-event.js';
import { metadataName } from '../domain/context.js';
import type { LedgerLine } from '../domain/delivery.js';
import { isUlid } from '../lib/text/id-cursor.js';
import type { ObjectStore } from '../store/object-store.js';
import { eventOf, jobEventOf } from './job-event.js';
import type { JobEvent } from './receiver-event.js';

/** Ids kept for deduplication; a repetition of an older one is announced again, with the same id and content. */
const REMEMBERED = 10_000;

/** Whether a delivery certainly has a ledger line that announces what it stored; false where that is not known. Never rejects. */
export type IsRecorded = (delivery: LedgerLine) => Promise<boolean>;

const notKnown: IsRecorded = async () => false;

/**
 * Makes the events of ledger lines. The id of an event is that of the delivery that stored the artefacts.
 *
 * A process can die after it stored the artefacts of a delivery and before it wrote the ledger line. Then only the lines of repeated
 * deliveries record them. Their events are made as the first delivery would have made them, so that artefacts never have two ids, nor an
 * id two contents. Where the first delivery has a line, that alone announces it: a repetition may have fewer items.
 *
 * @param since milliseconds since the epoch: no events for artefacts stored before it
 */
export function createAnnouncements(
  store: Pick<ObjectStore, 'head' | 'location' | 'read'>,
  since: number,
  isRecorded: IsRecorded = notKnown,
) {
  const announced = new Set<string>();

  function remember(id: string): void {
    announced.add(id);
    const [oldest] = announced;
    if (announced.size > REMEMBERED && oldest !== undefined) announced.delete(oldest);
  }

  async function eventsFor(line: LedgerLine): Promise<readonly JobEvent[]> {
    if (isRepetition(line)) return eventsOfRepetition(line);
    const event = jobEventOf(line, store.location);
    return event === null || (await isAnnouncedByRecovery(store, line)) ? [] : [event];
  }

  async function eventsOfRepetition(line: LedgerLine): Promise<readonly JobEvent[]> {
    const events: JobEvent[] = [];
    for (const creation of await creationsOf(store, line)) {
      const { deliveryId } = creation;
      if (decodeTime(deliveryId) < since || announced.has(deliveryId)) continue;
      const event = (await isRecorded(creation)) ? null : eventOf(creation, store.location);
      if (event === null) remember(deliveryId);
      else events.push(event);
    }
    return events;
  }

  return {
    /** Empty when the line announces nothing. Throws `StoreError`. */
    async of(line: LedgerLine): Promise<readonly JobEvent[]> {
      const events = await eventsFor(line);
      for (const { id } of events) remember(id);
      return events;
    },
    /** The event was not handed to the sender: its line, or a repetition of it, announces it again. */
    forget({ id }: JobEvent): void {
      announced.delete(id);
    },
  };
}

/** The event with this id, from its ledger line; null when the line did not announce it. */
export async function recreateEvent(
  store: Pick<ObjectStore, 'head' | 'location'>,
  line: LedgerLine,
  id: string,
): Promise<JobEvent | null> {
  if (line.deliveryId === id) return eventOf(line, store.location);
  if (!isRepetition(line)) return null;
  const creation = (await creationsOf(store, line)).find(({ deliveryId }) => deliveryId === id);
  return creation === undefined ? null : eventOf(creation, store.location);
}

/**
 * Whether a line is a callback without items for a job whose failure recovery has already recorded and announced. Throws `StoreError`.
 */
export async function isAnnouncedByRecovery(
  store: Pick<ObjectStore, 'read'>,
  { origin, outcome, jobId, source }: LedgerLine,
): Promise<boolean> {
  if (origin !== 'callback' || outcome !== 'noted' || jobId === null || source === null) return false;
  const record = await readEndRecord(store, jobId, source);
  return record?.recorded === true && record.deliveryId !== null;
}

/** Reconstructs, from the metadata of a repetition's artefacts, the lines of the deliveries that created them. */
async function creationsOf(store: Pick<ObjectStore, 'head'>, line: LedgerLine): Promise<LedgerLine[]> {
  const artefacts: Artefact[] = [];
  for (const item of line.items) {
    const { metadata = {}, modifiedAt = null } = (await store.head(item.key)) ?? {};
    if (modifiedAt === null) continue;
    artefacts.push({
      item,
      metadata,
      creator: metadata['delivery-id'] ?? '',
      storedAt: modifiedAt.getTime(),
    });
  }
  const creators = new Set(artefacts.map(({ creator }) => creator).filter(isUlid));
  return [...creators].map((creator) => {
    const own = artefacts.filter((each) => each.creator === creator);
    const creation = creationOf(line, creator, own[0]?.metadata ?? {});
    return { ...creation, items: itemsOf(artefacts, creator) };
  });
}

/** An artefact of a repetition. */
interface Artefact {
  readonly item: LedgerLine['items'][number];
  readonly metadata: Readonly<Record<string, string>>;
  /** Id of the delivery that created it. */
  readonly creator: string;
  /** Milliseconds since the epoch, by the store's time. */
  readonly storedAt: number;
}

/** Items of a delivery's reconstructed line: artefacts that it created, and those that it found of an earlier delivery that died. */
function itemsOf(artefacts: readonly Artefact[], creator: string): LedgerLine['items'] {
  const own = artefacts.filter((each) => each.creator === creator);
  const end = Math.max(...own.map(({ storedAt }) => storedAt));
  return artefacts.flatMap(({ item, creator: other, storedAt }) => {
    if (other === creator)
      return [{ ...item, outcome: item.key.includes('/conflicts/') ? 'conflict' : 'created' }];
    return storedAt < end || (storedAt === end && other < creator) ? [item] : [];
  });
}

function creationOf(
  line: LedgerLine,
  deliveryId: string,
  metadata: Readonly<Record<string, string>>,
): LedgerLine {
  const { context = {}, ...rest } = line;
  const { origin = line.origin, status = null, region = null, source = line.source } = metadata;
  const values = Object.keys(context).flatMap((name) => {
    const value = metadata[metadataName(name)];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...rest,
    deliveryId,
    origin: origin as LedgerLine['origin'],
    status,
    region,
    source,
    receivedAt: metadata['received-at'] ?? line.receivedAt,
    context: Object.fromEntries(values),
    outcome: 'stored',
    items: [],
  };
}

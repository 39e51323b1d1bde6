import { quarantineFolder } from '../../archive/layout.js';
import type { EndedBefore } from '../../archive/retention/retention-view.js';
import { isDelivery, type LedgerLine } from '../../domain/delivery.js';
import { CONTENT_KINDS, type ContentKind, contentKind, type ObjectKind } from '../../domain/object-kind.js';
import type { Job } from '../api/answers/jobs.js';

type EndedObjects = Job['ended'][number];

/**
 * What of a job ended by its age, oldest first: by the lines of the sweep, and of what its other lines tell of and the store does
 * not hold, by the periods.
 *
 * @param timeline oldest first
 * @param present keys of the objects that are there
 * @param now milliseconds since the epoch
 */
export function endedObjects(
  timeline: readonly LedgerLine[],
  present: ReadonlySet<string>,
  endedBefore: EndedBefore,
  now: number,
): EndedObjects[] {
  const swept = timeline.flatMap(sweptBy);
  const isSwept = (kind: ObjectKind, receivedAt: string) =>
    swept.some((ended) => ended.kind === kind && ended.endedAt >= receivedAt);
  const byAge = new Map<ContentKind, EndedObjects>();
  const seen = new Set(present);
  for (const { key, kind, size, receivedAt } of [
    ...toldOf(timeline),
    ...quarantinedBefore(timeline, endedBefore),
  ]) {
    const received = Date.parse(receivedAt);
    if (seen.has(key) || !(received < endedBefore(kind)) || isSwept(kind, receivedAt)) continue;
    seen.add(key);
    const endedAt = new Date(received + now - endedBefore(kind)).toISOString();
    const known = byAge.get(kind) ?? { kind, objects: 0, bytes: 0, endedAt };
    byAge.set(kind, {
      kind,
      objects: known.objects + 1,
      bytes: known.bytes + size,
      endedAt: endedAt > known.endedAt ? endedAt : known.endedAt,
    });
  }
  return [...swept, ...byAge.values()].sort((a, b) => a.endedAt.localeCompare(b.endedAt));
}

function sweptBy({ outcome, ended, receivedAt, bytes }: LedgerLine): EndedObjects[] {
  const kind = CONTENT_KINDS.find((name) => name === ended?.kind);
  if (outcome !== 'ended' || ended === undefined || kind === undefined) return [];
  return [{ kind, objects: ended.objects, bytes, endedAt: receivedAt }];
}

/** An object that a line tells of. */
interface ToldObject {
  readonly key: string;
  readonly kind: ContentKind;
  readonly size: number;
  readonly receivedAt: string;
}

function toldOf(timeline: readonly LedgerLine[]): ToldObject[] {
  return timeline
    .filter(({ origin }) => isDelivery(origin))
    .flatMap(({ items, receivedAt }) =>
      items.map(({ key, kind, size }) => ({ key, kind: contentKind(kind), size, receivedAt })),
    );
}

/** A job has few; each costs a look at the store. */
const MAX_BODIES = 20;

/** The quarantined bodies of a job that are old enough to have ended; not listed with its artefacts. */
export function quarantinedBefore(timeline: readonly LedgerLine[], endedBefore: EndedBefore): ToldObject[] {
  return timeline
    .filter(
      ({ outcome, receivedAt }) =>
        outcome === 'quarantined' && Date.parse(receivedAt) < endedBefore('quarantine'),
    )
    .slice(0, MAX_BODIES)
    .map(({ deliveryId, bytes, receivedAt }) => ({
      ...{ key: `${quarantineFolder(deliveryId)}body`, kind: 'quarantine', size: bytes, receivedAt },
    }));
}

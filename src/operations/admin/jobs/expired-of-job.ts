import { quarantineFolder } from '../../../archive/layout.js';
import { isDelivery, type LedgerLine } from '../../../domain/delivery.js';
import {
  CONTENT_CLASSES,
  type ContentClass,
  type RetentionClass,
  retentionClassOf,
} from '../../../domain/kinds.js';
import type { ExpiredBefore } from '../../../recovery/retention/retention-view.js';
import type { Job } from '../../answers/jobs.js';

type ExpiredObjects = Job['expired'][number];

/**
 * The objects of a job that expired, oldest first: by the lines of the sweep, and of what its other lines name and the store does
 * not hold, by the periods.
 *
 * @param timeline oldest first
 * @param present keys of the objects that are there
 * @param now milliseconds since the epoch
 */
export function expiredOfJob(
  timeline: readonly LedgerLine[],
  present: ReadonlySet<string>,
  expiredBefore: ExpiredBefore,
  now: number,
): ExpiredObjects[] {
  const swept = timeline.flatMap(sweptBy);
  const isSwept = (kind: RetentionClass, receivedAt: string) =>
    swept.some((expired) => expired.kind === kind && expired.expiredAt >= receivedAt);
  const byAge = new Map<ContentClass, ExpiredObjects>();
  const seen = new Set(present);
  for (const { key, kind, size, receivedAt } of [
    ...namedBy(timeline),
    ...quarantinedBefore(timeline, expiredBefore),
  ]) {
    const received = Date.parse(receivedAt);
    if (seen.has(key) || !(received < expiredBefore(kind)) || isSwept(kind, receivedAt)) continue;
    seen.add(key);
    const expiredAt = new Date(received + now - expiredBefore(kind)).toISOString();
    const known = byAge.get(kind) ?? { kind, objects: 0, bytes: 0, expiredAt };
    byAge.set(kind, {
      kind,
      objects: known.objects + 1,
      bytes: known.bytes + size,
      expiredAt: expiredAt > known.expiredAt ? expiredAt : known.expiredAt,
    });
  }
  return [...swept, ...byAge.values()].sort((a, b) => a.expiredAt.localeCompare(b.expiredAt));
}

function sweptBy({ outcome, expired, receivedAt, bytes }: LedgerLine): ExpiredObjects[] {
  const kind = CONTENT_CLASSES.find((name) => name === expired?.kind);
  if (outcome !== 'expired' || expired === undefined || kind === undefined) return [];
  return [{ kind, objects: expired.objects, bytes, expiredAt: receivedAt }];
}

/** An object that a line names. */
interface NamedObject {
  readonly key: string;
  readonly kind: ContentClass;
  readonly size: number;
  readonly receivedAt: string;
}

function namedBy(timeline: readonly LedgerLine[]): NamedObject[] {
  return timeline
    .filter(({ origin }) => isDelivery(origin))
    .flatMap(({ items, receivedAt }) =>
      items.map(({ key, kind, size }) => ({ key, kind: retentionClassOf(kind), size, receivedAt })),
    );
}

/** A job has few; each costs a HEAD. */
const MAX_BODIES = 20;

/** The quarantined bodies of a job that are old enough to have expired; not listed with its artefacts. */
export function quarantinedBefore(
  timeline: readonly LedgerLine[],
  expiredBefore: ExpiredBefore,
): NamedObject[] {
  return timeline
    .filter(
      ({ outcome, receivedAt }) =>
        outcome === 'quarantined' && Date.parse(receivedAt) < expiredBefore('quarantine'),
    )
    .slice(0, MAX_BODIES)
    .map(({ deliveryId, bytes, receivedAt }) => ({
      ...{ key: `${quarantineFolder(deliveryId)}body`, kind: 'quarantine', size: bytes, receivedAt },
    }));
}

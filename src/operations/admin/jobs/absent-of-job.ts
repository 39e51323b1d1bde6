import { quarantineFolder } from '../../../archive/layout.js';
import { isDelivery, type LedgerLine } from '../../../domain/delivery.js';
import { CONTENT_CLASSES, type ContentClass, retentionClassOf } from '../../../domain/kinds.js';
import type { ExpiredBefore, RetentionView } from '../../../recovery/retention/retention-view.js';
import { isKey } from '../../../store/object-key.js';
import type { ObjectStore } from '../../../store/object-store.js';
import type { Job } from '../../answers/jobs.js';

type ExpiredObjects = Job['expired'][number];
type LostArtefact = Job['lost'][number];

interface AbsentParts {
  readonly store: Pick<ObjectStore, 'head'>;
  readonly retained: RetentionView;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** An object that the lines of a job record as stored. */
interface StoredObject extends LostArtefact {
  readonly retention: ContentClass;
}

/** Lost artefacts and bodies that are checked; each costs a HEAD. */
const MAX_LOST = 100;
const MAX_BODIES = 20;

/**
 * Objects that the lines of a job record and the store does not have: `expired`, by the lines of a sweep or by age, or `lost`. Rejects with
 * `StoreError`.
 *
 * @param timeline oldest first
 * @param present keys of existing objects
 */
export async function absentOfJob(
  { store, retained, clock }: AbsentParts,
  timeline: readonly LedgerLine[],
  present: ReadonlySet<string>,
): Promise<Pick<Job, 'expired' | 'lost'>> {
  const expiredBefore = await retained.expiredBefore();
  const hasEnded = ({ storedAt, retention }: StoredObject) => Date.parse(storedAt) < expiredBefore(retention);
  const bodies = await absentOf(store, bodiesOf(timeline).filter(hasEnded).slice(0, MAX_BODIES));
  const swept = timeline.flatMap(sweptBy);
  const isSwept = ({ retention, storedAt }: StoredObject) =>
    swept.some(({ kind, expiredAt }) => kind === retention && expiredAt >= storedAt);
  const artefacts = artefactsOf(timeline).filter(({ key }) => !present.has(key));
  const absent = [...artefacts, ...bodies].filter((each) => !isSwept(each));
  const byAge = sumByKind(absent.filter(hasEnded), expiredBefore, clock());
  // Checked by HEAD: an object may have been stored after the listing, or be below the prefix of a removed source.
  const lost = await absentOf(store, absent.filter((each) => !hasEnded(each)).slice(0, MAX_LOST));
  return {
    expired: [...swept, ...byAge].sort((a, b) => a.expiredAt.localeCompare(b.expiredAt)),
    lost: lost.map(({ retention: _, ...artefact }) => artefact),
  };
}

/** Each artefact with the time when it was last stored; an `identical` outcome does not store it again. */
function artefactsOf(timeline: readonly LedgerLine[]): StoredObject[] {
  const stored = new Map<string, StoredObject>();
  for (const { items, receivedAt: storedAt } of timeline.filter(({ origin }) => isDelivery(origin)))
    for (const { key, kind, size, sha256, outcome } of items) {
      const isKnown = outcome === 'identical' && stored.has(key);
      // A ledger that was edited by hand may hold any text, which need not be a valid key.
      if (isKey(key) && !isKnown)
        stored.set(key, { key, kind, size, sha256, storedAt, retention: retentionClassOf(kind) });
    }
  return [...stored.values()];
}

/** Quarantined bodies, which are not listed with the artefacts. */
function bodiesOf(timeline: readonly LedgerLine[]): StoredObject[] {
  return timeline
    .filter(({ outcome }) => outcome === 'quarantined')
    .map(({ deliveryId, bytes, receivedAt }) => ({
      key: `${quarantineFolder(deliveryId)}body`,
      kind: 'attachment',
      size: bytes,
      sha256: '',
      storedAt: receivedAt,
      retention: 'quarantine',
    }));
}

async function absentOf(
  store: AbsentParts['store'],
  objects: readonly StoredObject[],
): Promise<StoredObject[]> {
  const heads = await Promise.all(objects.map(({ key }) => store.head(key)));
  return objects.filter((_, index) => heads[index] === null);
}

function sweptBy({ outcome, expired, receivedAt, bytes }: LedgerLine): ExpiredObjects[] {
  const kind = CONTENT_CLASSES.find((name) => name === expired?.kind);
  if (outcome !== 'expired' || expired === undefined || kind === undefined) return [];
  return [{ kind, objects: expired.objects, bytes, expiredAt: receivedAt }];
}

/** Objects expired by the lifecycle rules of a bucket, for which no line exists: each expired when its period was over. */
function sumByKind(
  objects: readonly StoredObject[],
  expiredBefore: ExpiredBefore,
  now: number,
): ExpiredObjects[] {
  const kinds = [...new Set(objects.map(({ retention }) => retention))];
  return kinds.map((kind) => {
    const own = objects.filter(({ retention }) => retention === kind);
    const last = Math.max(...own.map(({ storedAt }) => Date.parse(storedAt)));
    return {
      kind,
      objects: own.length,
      bytes: own.reduce((sum, { size }) => sum + size, 0),
      expiredAt: new Date(last + now - expiredBefore(kind)).toISOString(),
    };
  });
}

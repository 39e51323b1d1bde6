import { isDelivery, type LedgerLine } from '../../../domain/delivery.js';
import { type RetentionClass, retentionClassOf } from '../../../domain/kinds.js';
import type { ExpiredBefore } from '../../../recovery/retention/retention-view.js';
import { isKey } from '../../../store/object-key.js';
import type { ObjectStore } from '../../../store/object-store.js';
import type { Job } from '../../answers/jobs.js';

type LostArtefact = Job['lost'][number];

/** Each costs a HEAD. A job that lost more has the first ones named. */
const MAX_LOST = 100;

/**
 * The artefacts that the lines of a job say are stored, and that the store does not hold, although they did not expire. Throws
 * `StoreError`.
 *
 * @param timeline oldest first
 * @param present keys of objects that are there
 */
export async function lostOfJob(
  store: Pick<ObjectStore, 'head'>,
  timeline: readonly LedgerLine[],
  present: ReadonlySet<string>,
  expiredBefore: ExpiredBefore,
): Promise<LostArtefact[]> {
  const named = new Map<string, LostArtefact>();
  for (const { origin, items, receivedAt } of timeline) {
    if (!isDelivery(origin)) continue;
    for (const { key, kind, size, sha256, outcome } of items) {
      // A ledger that was edited by hand may hold any text; no store can be asked for it.
      if (!isKey(key)) continue;
      const isOld = outcome === 'identical' && named.has(key);
      if (!isOld && outcome !== 'read') named.set(key, { key, kind, size, sha256, storedAt: receivedAt });
    }
  }
  const absent = [...named.values()].filter(
    ({ key, kind, storedAt }) =>
      !present.has(key) && !hasExpired(timeline, expiredBefore, retentionClassOf(kind), storedAt),
  );
  // It may have been stored after the job was listed, or below the prefix of a source that is not configured any more.
  const heads = await Promise.all(absent.slice(0, MAX_LOST).map(({ key }) => store.head(key)));
  return absent.filter((_, index) => heads[index] === null);
}

function hasExpired(
  timeline: readonly LedgerLine[],
  expiredBefore: ExpiredBefore,
  kind: RetentionClass,
  storedAt: string,
): boolean {
  if (Date.parse(storedAt) < expiredBefore(kind)) return true;
  return timeline.some(
    ({ outcome, expired, receivedAt }) =>
      outcome === 'expired' && expired?.kind === kind && receivedAt >= storedAt,
  );
}

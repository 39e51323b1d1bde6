import { CANARY_FOLDER } from '../../archive/layout.js';
import type { StorePlace } from '../../archive/store-places.js';
import { withoutWork } from '../../domain/other-work.js';
import { withDeadline } from '../../lib/time/deadline.js';
import { Canary } from '../../operations/health/canary.js';
import { callbacksWithout } from '../../operations/issues/phrases.js';
import { PROOF_NAME } from '../../store/object-key.js';
import type { ObjectStore } from '../../store/object-store.js';
import { conditionOf } from '../../store/store-condition.js';
import { remedyOf, type StoreCondition } from '../../store/store-remedies.js';
import { errorMessage, type Finding, failed, passed } from './finding.js';

const CHECK = 'store prefixes';

/** Milliseconds. */
const TIMEOUT = 10_000;

/** Proves each place that a receiver writes to, as the receiver does, and removes the objects written. Never throws. */
export async function checkPlaces(places: readonly StorePlace[], store: ObjectStore) {
  const findings = await Promise.all([
    ...places.map((place) => checkPlace(place, store)),
    checkCanaries(store),
  ]);
  const faults = findings.filter((finding) => finding !== null);
  return faults.length > 0
    ? faults
    : [passed(CHECK, 'Each prefix that a receiver writes to can be written.')];
}

async function checkPlace(
  { prefix, sources, work, prove }: StorePlace,
  store: Pick<ObjectStore, 'delete'>,
): Promise<Finding | null> {
  try {
    const result = await withDeadline(prove(), TIMEOUT, `the store did not answer within ${TIMEOUT} ms`);
    // A receiver reuses the object; here it is not needed any more.
    if (result === 'created') await store.delete(prefix + PROOF_NAME).catch(() => undefined);
    return null;
  } catch (error) {
    const harm = work === null ? callbacksWithout(sources) : withoutWork(work);
    return notStored(prefix, errorMessage(error), conditionOf(error), harm);
  }
}

/** Checks the canary folder: a receiver that cannot write its canary is not ready, although it could store callbacks. */
async function checkCanaries(store: ObjectStore): Promise<Finding | null> {
  const canary = new Canary({ store, replica: 'doctor', timeout: TIMEOUT });
  const { writable, reason, condition } = await canary.check();
  await canary.stop();
  return writable ? null : notStored(CANARY_FOLDER, String(reason), condition, 'No receiver is ready.');
}

function notStored(prefix: string, reason: string, condition: StoreCondition | null, harm: string): Finding {
  const message = `The store cannot be used below ${prefix}: ${reason}. ${harm}`;
  return failed(CHECK, message, remedyOf(condition ?? 'denied'));
}

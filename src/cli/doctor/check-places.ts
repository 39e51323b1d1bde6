import { randomUUID } from 'node:crypto';
import type { CallbackPlace } from '../../archive/callback-places.js';
import { CANARY_FOLDER } from '../../archive/layout.js';
import { withDeadline } from '../../lib/time/deadline.js';
import { PROOF_NAME } from '../../store/object-key.js';
import type { ObjectStore } from '../../store/object-store.js';
import { conditionOf } from '../../store/store-condition.js';
import { remedyOf } from '../../store/store-remedies.js';
import { errorMessage, type Finding, failed, passed } from './finding.js';

const CHECK = 'store prefixes';

/** Milliseconds. */
const TIMEOUT = 10_000;

/** Proves each place that a receiver needs for callbacks, as it does, and removes what that leaves. Never throws. */
export async function checkPlaces(
  places: readonly CallbackPlace[],
  store: Pick<ObjectStore, 'create' | 'delete'>,
) {
  const findings = await Promise.all([
    ...places.map((place) => checkPlace(place, store)),
    checkCanaries(store),
  ]);
  const faults = findings.filter((finding) => finding !== null);
  return faults.length > 0 ? faults : [passed(CHECK, 'Each prefix that callbacks use can be written.')];
}

async function checkPlace(
  { prefix, sources, prove }: CallbackPlace,
  store: Pick<ObjectStore, 'delete'>,
): Promise<Finding | null> {
  try {
    const result = await withDeadline(prove(), TIMEOUT, `the store did not answer within ${TIMEOUT} ms`);
    // A receiver keeps the object; without one it is no one's.
    if (result === 'created') await store.delete(prefix + PROOF_NAME).catch(() => undefined);
    return null;
  } catch (error) {
    const whose = sources.length === 0 ? 'that need it' : `of ${sources.join(', ')}`;
    return notStored(prefix, error, `Callbacks ${whose} are answered 503.`);
  }
}

/** A receiver that cannot write its canary is not ready, although callbacks that reach it can be stored. */
async function checkCanaries(store: Pick<ObjectStore, 'create' | 'delete'>): Promise<Finding | null> {
  const key = `${CANARY_FOLDER}doctor/${randomUUID()}`;
  try {
    const writing = store.create(key, Buffer.from('x'), { contentType: 'text/plain', metadata: {} });
    await withDeadline(writing, TIMEOUT, `the store did not answer within ${TIMEOUT} ms`);
    await store.delete(key).catch(() => undefined);
    return null;
  } catch (error) {
    return notStored(CANARY_FOLDER, error, 'No receiver is ready.');
  }
}

function notStored(prefix: string, error: unknown, harm: string): Finding {
  const message = `Nothing can be stored below ${prefix}: ${errorMessage(error)}. ${harm}`;
  return failed(CHECK, message, remedyOf(conditionOf(error) ?? 'denied'));
}

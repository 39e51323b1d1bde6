import type { Config } from '../../../config/config.js';
import { clockFault } from '../../../ledger/hours.js';
import { Canary } from '../../../operations/health/canary.js';
import type { ObjectStore } from '../../../store/object-store.js';
import type { StoreCondition } from '../../../store/store-remedies.js';

interface TriedStore {
  readonly writable: boolean;
  readonly reason: string | null;
  readonly condition: StoreCondition | null;
  readonly lastSuccessAt: null;
}

/** Writes to the store as a receiver's canary does, and removes what it wrote. Never throws. */
export async function tryStore(config: Config, store: ObjectStore): Promise<TriedStore> {
  const needsConditions = config.store.s3.conditionalWrites === 'native';
  const canary = new Canary({ store, replica: 'status', needsConditions });
  const { writable, reason, condition } = await canary.check();
  await canary.stop();
  const clock = clockFault(store.clockOffset());
  if (writable && clock !== null)
    return { writable: false, reason: clock, condition: 'clock', lastSuccessAt: null };
  return { writable, reason, condition, lastSuccessAt: null };
}

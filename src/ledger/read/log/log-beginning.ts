import type { ObjectStore } from '../../../store/object-store.js';
import { startOfHour } from '../../hours.js';
import { hoursInOrder } from '../../log/log-hours.js';

/** Where the ledger begins. */
export interface LogBeginning {
  /** Whether no hour before that of `time`, in milliseconds since the epoch, has lines. Rejects with `StoreError`. */
  isAfter(time: number): Promise<boolean>;
}

/** Lists the oldest hour once: lines are only written into the present hour, so no older one can appear. */
export function createLogBeginning(store: ObjectStore): LogBeginning {
  let first: number | null = null;
  return {
    async isAfter(time) {
      first ??= await oldestHour(store);
      return first === null || first >= time;
    },
  };
}

async function oldestHour(store: ObjectStore): Promise<number | null> {
  for await (const hour of hoursInOrder(store, 'oldest', Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY))
    return startOfHour(hour);
  return null;
}

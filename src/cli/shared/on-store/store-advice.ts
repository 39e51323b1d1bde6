import type { OnStoreCall } from '../../../store/probe/measure-store.js';
import { conditionOf } from '../../../store/store-condition.js';
import type { StoreCondition } from '../../../store/store-remedies.js';
import { adviceOf } from '../../../store/store-remedies.js';

/** Collects the store conditions of failed calls, until a later call of the same operation succeeds. */
export function createStoreAdvice() {
  const conditions = new Map<string, StoreCondition>();
  const onStoreCall: OnStoreCall = (operation, _result, _durationMs, condition) => {
    if (condition === null) conditions.delete(operation);
    else conditions.set(operation, condition);
  };
  return {
    onStoreCall,
    /** Called with the error that ended the work. */
    onError(error: unknown): void {
      const condition = conditionOf(error);
      if (condition !== null) conditions.set('', condition);
    },
    /** Advice for the conditions that are left. */
    lines: () => [...new Set(conditions.values())].map(adviceOf),
  };
}

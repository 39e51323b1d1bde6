import { DeadlineError } from '../time/deadline.js';
import { StoreError } from './object-store.js';
import type { StoreCondition } from './store-remedies.js';

/** What the failed store call, or one behind this error, says is wrong with the store; null when it does not say. */
export function conditionOf(error: unknown): StoreCondition | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof DeadlineError) return 'unreachable';
    if (at instanceof StoreError && at.condition !== null) return at.condition;
  }
  return null;
}

/** Whether the store itself said so: then the next write fails as well. The others may be the network's fault, and short. */
export function isRefusal(condition: StoreCondition): boolean {
  return condition !== 'unreachable' && condition !== 'no-credentials';
}

import { DeadlineError } from '../lib/time/deadline.js';
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

/** The fault may be the network's or this process's, and short. */
const MAY_PASS: ReadonlySet<StoreCondition> = new Set(['unreachable', 'no-credentials', 'too-many-files']);

/** What a failed check of the store says of it. */
export function diagnose(error: unknown): { refused: boolean; condition: StoreCondition | null } {
  const condition = conditionOf(error);
  return { condition, refused: condition !== null && isRefusal(condition) };
}

/** Whether the store itself said so: then the next write fails as well. */
export function isRefusal(condition: StoreCondition): boolean {
  return !MAY_PASS.has(condition);
}

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

/** What a failed call says of the store. */
interface Diagnosis {
  /** For people. */
  readonly reason: string;
  /** What is wrong with the whole store; null when that is not known. */
  readonly condition: StoreCondition | null;
  /** The store itself refused: the next write would fail as well. */
  readonly refused: boolean;
}

export function diagnose(error: unknown): Diagnosis {
  const condition = conditionOf(error);
  const reason = error instanceof Error ? error.message : 'the store failed';
  return { reason, condition, refused: condition !== null && isRefusal(condition) };
}

/** Whether the store itself said so: then the next write fails as well. */
export function isRefusal(condition: StoreCondition): boolean {
  return !MAY_PASS.has(condition);
}

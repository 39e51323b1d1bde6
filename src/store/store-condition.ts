import { DeadlineError } from '../lib/time/deadline.js';
import { StoreError } from './object-store.js';
import type { StoreCondition } from './store-remedies.js';

/** The condition of the whole store that an error, or one of its causes, shows; null when they show none. */
export function conditionOf(error: unknown): StoreCondition | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof DeadlineError) return 'unreachable';
    if (at instanceof StoreError && at.condition !== null) return at.condition;
  }
  return null;
}

/** Conditions that may be temporary, of the network or of this process. */
const MAY_PASS: ReadonlySet<StoreCondition> = new Set(['unreachable', 'no-credentials', 'too-many-files']);

/** Diagnosis of a failed call. */
interface Diagnosis {
  /** For people. */
  readonly reason: string;
  /** Condition of the whole store; null when it is not known. */
  readonly condition: StoreCondition | null;
  /** Whether the store itself refused, so that the next write would fail as well. */
  readonly refused: boolean;
}

export function diagnose(error: unknown): Diagnosis {
  const condition = conditionOf(error);
  const reason = error instanceof Error ? error.message : 'the store failed';
  return { reason, condition, refused: condition !== null && isRefusal(condition) };
}

/** Whether a condition is a refusal by the store itself, so that the next write would fail as well. */
export function isRefusal(condition: StoreCondition): boolean {
  return !MAY_PASS.has(condition);
}

import type { OnStoreCall } from '../../store/measure-store.js';
import type { StoreTrouble } from '../../store/object-store.js';
import { adviceOf, troubleOf } from '../../store/store-trouble.js';

export interface StoreAdvice {
  readonly onStoreCall: OnStoreCall;
  /** Called with the error that ended the work. */
  onError(error: unknown): void;
  /** What is wrong with the store, and what to do about it. */
  lines(): string[];
}

/** Remembers what failed calls say is wrong with the store, until a later call of the same operation succeeds. */
export function createStoreAdvice(): StoreAdvice {
  const troubles = new Map<string, StoreTrouble>();
  return {
    onStoreCall(operation, _result, _durationMs, trouble) {
      if (trouble === null) troubles.delete(operation);
      else troubles.set(operation, trouble);
    },
    onError(error) {
      const trouble = troubleOf(error);
      if (trouble !== null) troubles.set('', trouble);
    },
    lines: () => [...new Set(troubles.values())].map(adviceOf),
  };
}

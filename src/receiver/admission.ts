import { Problem } from '../domain/problem.js';
import type { ByteBudget } from '../memory/byte-budget.js';

/** Admits deliveries while there is room for them; others are refused with 503 before their body is read. */
export interface Admission {
  readonly active: number;
  /**
   * Throws `overloaded`, `draining` or `store-unavailable`. The returned function frees the place; it acts once.
   *
   * @param declared bytes of the body; null when unknown
   */
  enter(declared: number | null): () => void;
  /** From now on no delivery is admitted. */
  close(): void;
  /** Resolves when no delivery is in flight. */
  whenEmpty(): Promise<void>;
}

export interface AdmissionLimits {
  readonly maxConcurrent: number;
  /** Deliveries that may wait for memory in the queue that a new one would join. */
  readonly maxWaiters: number;
}

/** @param storeTrouble why nothing can be stored yet; null when it can */
export function createAdmission(
  limits: AdmissionLimits,
  budget: Pick<ByteBudget, 'waitersFor'>,
  storeTrouble: () => string | null = () => null,
): Admission {
  let active = 0;
  let closed = false;
  let waiting: (() => void)[] = [];

  function leave(): void {
    active -= 1;
    if (active > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  }

  return {
    get active() {
      return active;
    },
    enter(declared) {
      if (closed) throw new Problem('draining', 'This replica is shutting down; another one will take it.');
      if (storeTrouble() !== null)
        throw new Problem('store-unavailable', 'The store is unavailable; send it again.');
      if (active >= limits.maxConcurrent) {
        throw new Problem('overloaded', `${limits.maxConcurrent} deliveries are being received already.`);
      }
      if (budget.waitersFor(declared) >= limits.maxWaiters) {
        throw new Problem('overloaded', `${limits.maxWaiters} deliveries are waiting for memory already.`);
      }
      active += 1;
      let inside = true;
      return () => {
        if (inside) leave();
        inside = false;
      };
    },
    close() {
      closed = true;
    },
    whenEmpty() {
      return active === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve));
    },
  };
}

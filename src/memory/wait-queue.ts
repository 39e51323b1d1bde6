import type { BudgetLease } from './budget-lease.js';

export interface Waiter {
  readonly lease: BudgetLease;
  readonly bytes: number;
  /** When the wait began. */
  readonly since: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * The leases that wait for bytes of one share, ordered by the age of the delivery, not of the wait. Deliveries in progress
 * so finish before new ones start, and memory is not spread over many unfinished ones.
 */
export class WaitQueue {
  readonly #waiters: Waiter[] = [];

  get length(): number {
    return this.#waiters.length;
  }

  get head(): Waiter | undefined {
    return this.#waiters[0];
  }

  all(): readonly Waiter[] {
    return [...this.#waiters];
  }

  /** Whether an older lease than this one waits. */
  isBefore(lease: BudgetLease): boolean {
    const head = this.#waiters[0];
    return head !== undefined && head.lease.age < lease.age;
  }

  add(waiter: Waiter): void {
    const behind = this.#waiters.findIndex(({ lease }) => lease.age > waiter.lease.age);
    this.#waiters.splice(behind < 0 ? this.#waiters.length : behind, 0, waiter);
  }

  shift(): void {
    this.#waiters.shift();
  }

  /** Removes a lease; undefined when it does not wait. */
  remove(lease: BudgetLease): Waiter | undefined {
    const index = this.#waiters.findIndex((waiter) => waiter.lease === lease);
    return index < 0 ? undefined : this.#waiters.splice(index, 1)[0];
  }
}

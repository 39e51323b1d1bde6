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
 * The leases that wait for bytes of one share, ordered by the delivery, not by the wait: those in progress so finish before new ones
 * start, and memory is not spread over many unfinished ones.
 */
export class WaitQueue {
  readonly #waiters: Waiter[] = [];
  readonly #rank: (lease: BudgetLease) => number;

  /** @param rank the lowest is served first, of equal ones the oldest; it stays the same while a lease waits */
  constructor(rank: (lease: BudgetLease) => number) {
    this.#rank = rank;
  }

  get length(): number {
    return this.#waiters.length;
  }

  get head(): Waiter | undefined {
    return this.#waiters[0];
  }

  all(): readonly Waiter[] {
    return [...this.#waiters];
  }

  /** Whether a lease waits that is served before this one. */
  isBefore(lease: BudgetLease): boolean {
    const head = this.#waiters[0];
    return head !== undefined && this.#comesFirst(head.lease, lease);
  }

  add(waiter: Waiter): void {
    const behind = this.#waiters.findIndex(({ lease }) => this.#comesFirst(waiter.lease, lease));
    this.#waiters.splice(behind < 0 ? this.#waiters.length : behind, 0, waiter);
  }

  #comesFirst(a: BudgetLease, b: BudgetLease): boolean {
    const ahead = this.#rank(b) - this.#rank(a);
    return ahead === 0 ? a.age < b.age : ahead > 0;
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

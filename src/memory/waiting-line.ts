import type { Lease } from './budget-lease.js';

export interface Waiter {
  readonly lease: Lease;
  readonly bytes: number;
  /** When it began to wait. */
  readonly since: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * Those who wait for bytes of one share, the oldest delivery first, whenever it began to wait: what was begun gets
 * finished before something new is begun, so that memory is not spread over many halves.
 */
export class WaitingLine {
  readonly #waiters: Waiter[] = [];

  get length(): number {
    return this.#waiters.length;
  }

  get head(): Waiter | undefined {
    return this.#waiters[0];
  }

  /** When the one who has waited longest began to; infinite when nobody waits. */
  get since(): number {
    return Math.min(...this.#waiters.map(({ since }) => since));
  }

  all(): readonly Waiter[] {
    return [...this.#waiters];
  }

  /** Whether somebody waits who comes before `lease`. */
  isBefore(lease: Lease): boolean {
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

  /** Takes a lease out of the line; undefined when it does not wait. */
  remove(lease: Lease): Waiter | undefined {
    const index = this.#waiters.findIndex((waiter) => waiter.lease === lease);
    return index < 0 ? undefined : this.#waiters.splice(index, 1)[0];
  }
}

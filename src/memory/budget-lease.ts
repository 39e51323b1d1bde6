import type { Problem } from '../domain/problem.js';
import type { FillPace } from './fill-pace.js';

export class LeaseClosedError extends Error {
  constructor() {
    super('the delivery ended while it waited for memory');
    this.name = 'LeaseClosedError';
  }
}

/** Whom a lease draws on; implemented by the budget. */
export interface LeaseKeeper {
  tryTake(lease: Lease, bytes: number): boolean;
  wait(lease: Lease, bytes: number): Promise<void>;
  give(lease: Lease, bytes: number): void;
  drop(lease: Lease): void;
}

/** Where bytes that are taken count: small bodies have a share of their own. */
export type Share = 'small' | 'large';

/** Memory beside the items that can be let go at any time, such as a raw body kept for quarantine. */
export interface Spare {
  readonly bytes: number;
  release(): void;
}

/** A delivery's account, as the budget keeps it. */
export class Lease {
  /** Bytes held, by the share they were taken from. */
  readonly taken = { small: 0, large: 0 };
  /** Bytes held out of the reserve of a share. */
  readonly borrowed = { small: 0, large: 0 };
  /** Set when the budget took back its word: no more is given. */
  refusal: Problem | null = null;
  onRefused: ((problem: Problem) => void) | null = null;
  spare: Spare | null = null;
  closed = false;
  /** Grows with every lease: of those that wait, the oldest is served first. */
  readonly age: number;
  readonly pace: FillPace;
  readonly expected: number | null;
  readonly patience: number;
  readonly #keeper: LeaseKeeper;

  constructor(keeper: LeaseKeeper, terms: Pick<Lease, 'age' | 'pace' | 'expected' | 'patience'>) {
    this.#keeper = keeper;
    this.age = terms.age;
    this.pace = terms.pace;
    this.expected = terms.expected;
    this.patience = terms.patience;
  }

  get held(): number {
    return this.taken.small + this.taken.large + this.borrowed.small + this.borrowed.large;
  }

  tryTake(bytes: number): boolean {
    return !this.closed && this.refusal === null && this.#keeper.tryTake(this, bytes);
  }

  take(bytes: number): Promise<void> {
    if (this.refusal !== null) return Promise.reject(this.refusal);
    if (this.closed) return Promise.reject(new LeaseClosedError());
    return this.#keeper.tryTake(this, bytes) ? Promise.resolve() : this.#keeper.wait(this, bytes);
  }

  give(bytes: number): void {
    if (bytes > this.held) throw new RangeError(`cannot give back ${bytes} bytes of ${this.held}`);
    this.#keeper.give(this, bytes);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.#keeper.drop(this);
  }
}

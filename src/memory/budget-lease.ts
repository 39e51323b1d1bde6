import type { Problem } from '../domain/problem.js';
import type { FillRate } from './fill-rate.js';
import type { ShortLivedMember } from './short-lived-set.js';

export class LeaseClosedError extends Error {
  constructor() {
    super('the delivery ended while it waited for memory');
    this.name = 'LeaseClosedError';
  }
}

/** The budget, as its leases use it. */
export interface LeaseOwner {
  tryTake(lease: Lease, bytes: number): boolean;
  wait(lease: Lease, bytes: number): Promise<void>;
  give(lease: Lease, bytes: number): void;
  drop(lease: Lease): void;
}

/** The part of the budget that taken bytes count against. */
export type Share = 'small' | 'large';

/** Memory that can be released at any time, such as a raw body kept for quarantine. */
export interface Discardable {
  readonly bytes: number;
  release(): void;
}

/** A delivery's account. */
export class Lease implements ShortLivedMember {
  /** Bytes held, by the share they were taken from. */
  readonly taken = { small: 0, large: 0 };
  /** Bytes held from the reserve of a share. */
  readonly borrowed = { small: 0, large: 0 };
  /** Set when the lease was refused: it gets no more. */
  refusal: Problem | null = null;
  onRefused: ((problem: Problem) => void) | null = null;
  discardable: Discardable | null = null;
  closed = false;
  setIndex = -1;
  /** A sequence number: of waiting leases the one with the lowest is served first. */
  readonly age: number;
  readonly fillRate: FillRate;
  readonly expected: number | null;
  readonly firstByteTimeout: number;
  readonly #owner: LeaseOwner;

  constructor(owner: LeaseOwner, terms: Pick<Lease, 'age' | 'fillRate' | 'expected' | 'firstByteTimeout'>) {
    this.#owner = owner;
    this.age = terms.age;
    this.fillRate = terms.fillRate;
    this.expected = terms.expected;
    this.firstByteTimeout = terms.firstByteTimeout;
  }

  get held(): number {
    return this.taken.small + this.taken.large + this.borrowed.small + this.borrowed.large;
  }

  tryTake(bytes: number): boolean {
    return !this.closed && this.refusal === null && this.#owner.tryTake(this, bytes);
  }

  take(bytes: number): Promise<void> {
    if (this.refusal !== null) return Promise.reject(this.refusal);
    if (this.closed) return Promise.reject(new LeaseClosedError());
    return this.#owner.tryTake(this, bytes) ? Promise.resolve() : this.#owner.wait(this, bytes);
  }

  give(bytes: number): void {
    if (bytes > this.held) throw new RangeError(`cannot return ${bytes} bytes of ${this.held}`);
    this.#owner.give(this, bytes);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.#owner.drop(this);
  }
}

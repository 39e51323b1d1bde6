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
  /** A part is on its way to the store. */
  flushed(): void;
  drop(lease: Lease): void;
}

/** The part of the budget that taken bytes count against. */
export type Share = 'small' | 'large';

/** Memory that can be released at any time, such as a raw body kept for quarantine. */
export interface Discardable {
  readonly bytes: number;
  release(): void;
}

export interface LeaseOptions {
  /** Bytes the whole delivery will have. Default null: unknown. */
  readonly expected?: number | null;
  /** Milliseconds to wait for the first byte. Default: no limit. */
  readonly firstByteTimeout?: number | undefined;
}

/** One delivery's memory. At most one `take` may be pending at a time. */
export interface BudgetLease {
  readonly held: number;
  /** How fast the sender fills the memory. The delivery updates it. */
  readonly fillRate: FillRate;
  /** Released when others need the memory. */
  discardable: Discardable | null;
  /** Called when the lease is refused: all memory must be returned now. */
  onRefused: ((problem: Problem) => void) | null;
  /** Takes the bytes if they are free. */
  tryTake(bytes: number): boolean;
  /**
   * Takes the bytes, and waits in the queue for them if needed. Rejects with `LeaseClosedError` when the lease is closed
   * meanwhile, and with an `overloaded` Problem when it is refused or times out.
   */
  take(bytes: number): Promise<void>;
  /** Returns bytes. Allowed after `close`: memory that is still being read is returned after the read. */
  give(bytes: number): void;
  /** What it holds is on its way to the store, and returned when it is there. */
  flushed(): void;
  /** Ends a pending wait and rejects further ones. Held bytes count until they are returned. Idempotent. */
  close(): void;
}

/** A delivery's account. */
export class Lease implements BudgetLease, ShortLivedMember {
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
  /** Of the bytes held, those on their way to the store. */
  #onTheWay = 0;

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

  /** Bytes that the delivery is going to take soon, in order to fill its part at the rate of its sender. */
  get claim(): number {
    if (this.closed || this.refusal !== null) return 0;
    const ahead = this.held - this.#onTheWay - this.fillRate.gathered;
    return Math.max(0, this.fillRate.due() - Math.max(0, ahead));
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
    this.#onTheWay = Math.max(0, this.#onTheWay - bytes);
    this.#owner.give(this, bytes);
  }

  flushed(): void {
    this.fillRate.flushed();
    this.#onTheWay = this.held;
    this.#owner.flushed();
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.#owner.drop(this);
  }
}

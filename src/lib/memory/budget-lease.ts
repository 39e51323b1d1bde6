import type { Problem } from '../../domain/problem.js';
import type { Holder } from './fair-queue.js';
import type { FillRate } from './fill-rate.js';

export class LeaseClosedError extends Error {
  constructor() {
    super('the delivery ended while it waited for memory');
    this.name = 'LeaseClosedError';
  }
}

/** The budget, as its leases use it. */
export interface LeaseOwner {
  tryTake(lease: BudgetLease, bytes: number): boolean;
  wait(lease: BudgetLease, bytes: number): Promise<void>;
  give(lease: BudgetLease, bytes: number): void;
  /** A part is being written to the store. */
  flushed(): void;
  drop(lease: BudgetLease): void;
}

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
export class BudgetLease implements Holder {
  /** Bytes held, by the share they were taken from. */
  readonly taken = { small: 0, large: 0 };
  /** Bytes held from the reserve of a share. */
  readonly borrowed = { small: 0, large: 0 };
  /** Set when the lease was refused: it gets no more. */
  refusal: Problem | null = null;
  /** Called when the lease is refused: all memory must be returned now. */
  onRefused: ((problem: Problem) => void) | null = null;
  /** Released when others need the memory. */
  discardable: Discardable | null = null;
  closed = false;
  setIndex = -1;
  /** A sequence number. */
  readonly age: number;
  /** When it began, in milliseconds. */
  readonly begun: number;
  /** How fast the sender fills the memory. The delivery updates it. */
  readonly fillRate: FillRate;
  readonly expected: number | null;
  readonly firstByteTimeout: number;
  readonly #budget: LeaseOwner;
  /** Bytes held that are being written to the store. */
  #flushing = 0;
  /** Bytes held for something other than the body; a flush does not return them. */
  #aside = 0;

  constructor(
    budget: LeaseOwner,
    terms: Pick<BudgetLease, 'age' | 'begun' | 'fillRate' | 'expected' | 'firstByteTimeout'>,
  ) {
    this.#budget = budget;
    this.age = terms.age;
    this.begun = terms.begun;
    this.fillRate = terms.fillRate;
    this.expected = terms.expected;
    this.firstByteTimeout = terms.firstByteTimeout;
  }

  get held(): number {
    return this.taken.small + this.taken.large + this.borrowed.small + this.borrowed.large;
  }

  /** Bytes held for the body. */
  get bodyBytes(): number {
    return this.held - this.#aside;
  }

  /** Bytes that the delivery will take soon to fill its part at the rate of its sender. */
  get claim(): number {
    if (this.closed || this.refusal !== null) return 0;
    const ahead = this.bodyBytes - this.#flushing - this.fillRate.gathered;
    return Math.max(0, this.fillRate.due() - Math.max(0, ahead));
  }

  /** Takes the bytes if they are free. */
  tryTake(bytes: number): boolean {
    return !this.closed && this.refusal === null && this.#budget.tryTake(this, bytes);
  }

  /** Takes the bytes if they are free, for something other than the body, until `giveAside`. */
  setAside(bytes: number): boolean {
    const isTaken = this.tryTake(bytes);
    if (isTaken) this.#aside += bytes;
    return isTaken;
  }

  /** Returns all that was set aside. Allowed after `close`. */
  giveAside(): void {
    const bytes = this.#aside;
    this.#aside = 0;
    this.#budget.give(this, bytes);
  }

  /**
   * Takes the bytes, and waits in the queue for them if needed. Rejects with `LeaseClosedError` when the lease is closed
   * meanwhile, and with an `overloaded` Problem when it is refused or times out.
   */
  take(bytes: number): Promise<void> {
    if (this.refusal !== null) return Promise.reject(this.refusal);
    if (this.closed) return Promise.reject(new LeaseClosedError());
    return this.#budget.tryTake(this, bytes) ? Promise.resolve() : this.#budget.wait(this, bytes);
  }

  /** Returns bytes. Allowed after `close`: memory that is still being read is returned after the read. */
  give(bytes: number): void {
    if (bytes > this.held) throw new RangeError(`cannot return ${bytes} bytes of ${this.held}`);
    this.#flushing = Math.max(0, this.#flushing - bytes);
    this.#budget.give(this, bytes);
  }

  /** What the lease holds is being written to the store, and returned afterwards. */
  flushed(): void {
    this.fillRate.flushed();
    this.#flushing = this.bodyBytes;
    this.#budget.flushed();
  }

  /** Ends a pending wait and rejects further ones. Held bytes count until they are returned. Idempotent. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.#budget.drop(this);
  }
}

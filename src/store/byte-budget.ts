/**
 * The process-wide byte budget: every buffer that holds a delivery's bytes is paid for out of it, so memory
 * stays flat whatever the number and size of uploads (DESIGN section 4).
 *
 * Two things keep it from starving or deadlocking:
 * - **Reserve.** One part's worth of bytes is set aside. When the oldest waiter cannot be served from the
 *   common pool, it alone may draw on the reserve. A part is all that a delivery ever needs to reach the point
 *   where it can hand bytes to the store and give them back, so the holder of the reserve always gets on.
 *   (Callers keep their side: before waiting they let go of what they merely keep; see `archive/staging`.)
 * - **Headroom.** Large takes leave a sixteenth of the budget alone, so that small callbacks pass while
 *   uploads queue.
 */
export interface ByteBudget {
  readonly total: number;
  readonly used: number;
  /** Leases that wait for bytes right now. */
  readonly waiters: number;
  lease(): BudgetLease;
}

/** One delivery's account. At most one `take` may be outstanding at a time. */
export interface BudgetLease {
  readonly held: number;
  /** Takes the bytes if that needs no waiting. */
  tryTake(bytes: number): boolean;
  /** Takes the bytes, waiting in line for them. Rejects with `LeaseClosedError` when the lease is closed meanwhile. */
  take(bytes: number): Promise<void>;
  /** Also after `close`: memory that somebody still reads is given back when that has ended. */
  give(bytes: number): void;
  /** Nothing more can be taken, and a wait ends. What is held stays paid for until it is given back. Idempotent. */
  close(): void;
}

export class LeaseClosedError extends Error {
  constructor() {
    super('the delivery ended while it waited for memory');
    this.name = 'LeaseClosedError';
  }
}

/** Takes up to this size may use the headroom and pass waiting larger ones. */
const SMALL_TAKE = 64 * 1024;

interface Waiter {
  readonly lease: Lease;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * @param options.total bytes in all, reserve included
 * @param options.reserve bytes set aside for the oldest waiter; the size of one part
 */
export function createByteBudget(options: { total: number; reserve: number }): ByteBudget {
  if (options.total < options.reserve * 2) {
    throw new RangeError(
      `a budget of ${options.total} bytes cannot hold two parts of ${options.reserve} bytes`,
    );
  }
  return new Budget(options.total, options.reserve);
}

class Budget implements ByteBudget {
  readonly total: number;
  readonly #reserve: number;
  readonly #headroom: number;
  #commonFree: number;
  #reserveHolder: Lease | null = null;
  readonly #queue: Waiter[] = [];

  constructor(total: number, reserve: number) {
    this.total = total;
    this.#reserve = reserve;
    this.#commonFree = total - reserve;
    this.#headroom = Math.min(Math.floor(total / 16), this.#commonFree - reserve);
  }

  get used(): number {
    return this.total - this.#reserve - this.#commonFree + (this.#reserveHolder?.borrowed ?? 0);
  }

  get waiters(): number {
    return this.#queue.length;
  }

  lease(): BudgetLease {
    return new Lease(this);
  }

  tryTake(lease: Lease, bytes: number): boolean {
    if (this.#takeFromReserve(lease, bytes)) return true;
    const small = bytes <= SMALL_TAKE;
    if (!small && this.#queue.length > 0) return false;
    if (this.#commonFree - bytes < (small ? 0 : this.#headroom)) return false;
    this.#commonFree -= bytes;
    lease.held += bytes;
    return true;
  }

  wait(lease: Lease, bytes: number): Promise<void> {
    if (bytes > this.#reserve) {
      return Promise.reject(
        new RangeError(`a single take of ${bytes} bytes exceeds the reserve of ${this.#reserve}`),
      );
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ lease, bytes, resolve, reject });
      this.#serve();
    });
  }

  /** Repays the reserve first, so that the next waiter can have it. */
  give(lease: Lease, bytes: number): void {
    const repaid = Math.min(bytes, lease.borrowed);
    lease.borrowed -= repaid;
    lease.held -= bytes;
    this.#commonFree += bytes - repaid;
    if (this.#reserveHolder === lease && lease.borrowed === 0) this.#reserveHolder = null;
    this.#serve();
  }

  drop(lease: Lease): void {
    const index = this.#queue.findIndex((waiter) => waiter.lease === lease);
    if (index < 0) return;
    this.#queue.splice(index, 1)[0]?.reject(new LeaseClosedError());
    // Smaller ones may have waited behind it.
    this.#serve();
  }

  #serve(): void {
    for (let head = this.#queue[0]; head !== undefined; head = this.#queue[0]) {
      if (!this.#grant(head)) return;
      this.#queue.shift();
      head.resolve();
    }
  }

  #grant({ lease, bytes }: Waiter): boolean {
    const floor = bytes <= SMALL_TAKE ? 0 : this.#headroom;
    if (this.#commonFree - bytes >= floor) {
      this.#commonFree -= bytes;
      lease.held += bytes;
      return true;
    }
    if (this.#reserveHolder !== null) return false;
    this.#reserveHolder = lease;
    return this.#takeFromReserve(lease, bytes);
  }

  #takeFromReserve(lease: Lease, bytes: number): boolean {
    if (this.#reserveHolder !== lease || lease.borrowed + bytes > this.#reserve) return false;
    lease.borrowed += bytes;
    lease.held += bytes;
    return true;
  }
}

class Lease implements BudgetLease {
  held = 0;
  /** How much of `held` came out of the reserve. */
  borrowed = 0;
  #closed = false;
  readonly #budget: Budget;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  tryTake(bytes: number): boolean {
    return !this.#closed && this.#budget.tryTake(this, bytes);
  }

  take(bytes: number): Promise<void> {
    if (this.#closed) return Promise.reject(new LeaseClosedError());
    return this.tryTake(bytes) ? Promise.resolve() : this.#budget.wait(this, bytes);
  }

  give(bytes: number): void {
    if (bytes > this.held) throw new RangeError(`cannot give back ${bytes} bytes of ${this.held}`);
    this.#budget.give(this, bytes);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#budget.drop(this);
  }
}

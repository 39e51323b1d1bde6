import { Problem } from '../domain/problem.js';
import { Lease, LeaseClosedError, type LeaseKeeper, type Share, type Spare } from './budget-lease.js';
import { FillPace } from './fill-pace.js';
import { WaitingLine } from './waiting-line.js';

/**
 * The process-wide byte budget: every buffer that holds a delivery's bytes is paid for out of it, so memory
 * stays flat whatever the number and size of uploads. The reasons: docs/decisions/byte-budget.md.
 *
 * - **Small share.** A quarter is for bodies up to `smallBody`. Larger ones never draw on it; small ones take what is
 *   free elsewhere as well, unless large ones wait for it. A body of unknown size counts as small until it has grown.
 * - **Lines.** Each share has one, the oldest delivery first.
 * - **Reserves.** Each share has bytes set aside for the head of its line: as much as a delivery ever needs to
 *   get bytes off its hands (a part; a small body). So the head always gets on, and nothing deadlocks.
 *   (Callers keep their side: before waiting they hand on what they can; see `archive/archive.ts`.)
 * - **Pace.** While others wait, whoever fills its memory too slowly to hand it on within 30 s is refused.
 * - **Patience.** A wait for the first byte ends after `patience`.
 *
 * `test/unit/memory/byte-budget.test.ts` holds all of this.
 */
export interface ByteBudget {
  readonly total: number;
  readonly used: number;
  /** Leases that wait for bytes right now. */
  readonly waiters: number;
  /** Those that a delivery of that size would have to share a line with; null when its size is unknown. */
  waitersFor(expected: number | null): number;
  lease(options?: LeaseOptions): BudgetLease;
  /** What a timer does a few times a second while anybody waits: ends waits, makes room. */
  look(): void;
}

export interface LeaseOptions {
  /** Bytes the whole delivery will have. Default null: unknown. */
  readonly expected?: number | null;
  /** Milliseconds to wait for the first byte. Default: as long as it takes. */
  readonly patience?: number;
}

/** One delivery's account. At most one `take` may be outstanding at a time. */
export interface BudgetLease {
  readonly held: number;
  /** How fast the sender fills what is held; kept up to date by the delivery. */
  readonly pace: FillPace;
  /** Let go when others need the memory. */
  spare: Spare | null;
  /** Told when the lease is refused: everything held has to be given back now. */
  onRefused: ((problem: Problem) => void) | null;
  /** Takes the bytes if that needs no waiting. */
  tryTake(bytes: number): boolean;
  /**
   * Takes the bytes, waiting in line for them. Rejects with `LeaseClosedError` when the lease is closed meanwhile, with
   * an `overloaded` Problem when it is refused.
   */
  take(bytes: number): Promise<void>;
  /** Also after `close`: memory that somebody still reads is given back when that has ended. */
  give(bytes: number): void;
  /** Nothing more can be taken, and a wait ends. What is held stays paid for until it is given back. Idempotent. */
  close(): void;
}

export interface BudgetOptions {
  /** Bytes in all, reserves included. */
  readonly total: number;
  /** Bytes set aside for the oldest waiter; the size of one part. */
  readonly reserve: number;
  /** Milliseconds. Default `performance.now`. */
  readonly now?: () => number;
}

export function createByteBudget(options: BudgetOptions): ByteBudget {
  if (options.total < options.reserve * 2) {
    throw new RangeError(
      `a budget of ${options.total} bytes cannot hold two parts of ${options.reserve} bytes`,
    );
  }
  return new Budget(options.total, options.reserve, options.now ?? (() => performance.now()));
}

/** Bodies up to this size have a share of their own; less where the budget is small. */
const SMALL_BODY = 1024 * 1024;

/** Smallest buffer of the pool: a small share that cannot hold four of them is none. */
const SMALLEST = 64 * 1024;

/** Milliseconds that somebody waits before others are refused for it. */
const BEFORE_REFUSING = 1_000;

const LOOK_EVERY = 250;

const SHARES = ['small', 'large'] as const;

class Budget implements ByteBudget, LeaseKeeper {
  readonly total: number;
  readonly #now: () => number;
  /** Bytes that large bodies never take, the small reserve included. */
  readonly #smallShare: number;
  readonly #reserve: Readonly<Record<Share, number>>;
  readonly #used = { small: 0, large: 0 };
  readonly #holder: Record<Share, Lease | null> = { small: null, large: null };
  readonly #line = { small: new WaitingLine(), large: new WaitingLine() };
  readonly #leases = new Set<Lease>();
  #lastAge = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(total: number, reserve: number, now: () => number) {
    this.total = total;
    this.#now = now;
    const share = Math.min(Math.floor(total / 4), total - 2 * reserve);
    const smallBody = share < 4 * SMALLEST ? 0 : Math.min(SMALL_BODY, 2 ** Math.floor(Math.log2(share / 4)));
    this.#smallShare = smallBody === 0 ? 0 : share;
    this.#reserve = { small: smallBody, large: reserve };
  }

  get used(): number {
    const { small, large } = this.#holder;
    return this.#used.small + this.#used.large + (small?.borrowed.small ?? 0) + (large?.borrowed.large ?? 0);
  }

  get waiters(): number {
    return this.#line.small.length + this.#line.large.length;
  }

  waitersFor(expected: number | null): number {
    return this.#line[this.#shareOf(expected ?? 0)].length;
  }

  lease({ expected = null, patience = Number.POSITIVE_INFINITY }: LeaseOptions = {}): BudgetLease {
    const steps = { part: this.#reserve.large, smallBody: this.#reserve.small };
    const pace = new FillPace(this.#now, steps, expected);
    const lease = new Lease(this, { age: ++this.#lastAge, pace, expected, patience });
    this.#leases.add(lease);
    return lease;
  }

  tryTake(lease: Lease, bytes: number): boolean {
    const share = this.#shareFor(lease, bytes);
    if (this.#borrow(share, lease, bytes)) return true;
    return !this.#line[share].isBefore(lease) && this.#charge(share, lease, bytes);
  }

  wait(lease: Lease, bytes: number): Promise<void> {
    const share = this.#shareFor(lease, bytes);
    if (bytes > this.#reserve[share]) {
      return Promise.reject(
        new RangeError(`a single take of ${bytes} bytes exceeds the reserve of ${this.#reserve[share]}`),
      );
    }
    return new Promise((resolve, reject) => {
      this.#line[share].add({ lease, bytes, since: this.#now(), resolve, reject });
      this.#serve();
      if (this.waiters === 0) return;
      this.#releaseSpares();
      this.#timer ??= setInterval(() => this.look(), LOOK_EVERY).unref();
    });
  }

  /** Repays the reserves first, so that the next waiter can have them. */
  give(lease: Lease, bytes: number): void {
    let rest = bytes;
    for (const share of ['large', 'small'] as const) {
      const repaid = Math.min(rest, lease.borrowed[share]);
      lease.borrowed[share] -= repaid;
      rest -= repaid;
      if (this.#holder[share] === lease && lease.borrowed[share] === 0) this.#holder[share] = null;
    }
    for (const share of SHARES) {
      const given = Math.min(rest, lease.taken[share]);
      lease.taken[share] -= given;
      this.#used[share] -= given;
      rest -= given;
    }
    if (lease.closed && lease.held === 0) this.#leases.delete(lease);
    this.#serve();
  }

  drop(lease: Lease): void {
    if (lease.held === 0) this.#leases.delete(lease);
    if (this.#end(lease, leaseClosed)) this.#serve();
  }

  look(): void {
    const instant = this.#now();
    for (const line of [this.#line.small, this.#line.large]) {
      for (const { lease, since } of line.all()) {
        if (lease.held === 0 && instant - since >= lease.patience)
          this.#end(lease, () => outOfPatience(lease));
      }
    }
    this.#serve();
    this.#releaseSpares();
    for (const share of SHARES) {
      if (instant - this.#line[share].since >= BEFORE_REFUSING) this.#refuseTheSlow(share);
    }
    if (this.waiters > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #shareOf(bytes: number): Share {
    return this.#smallShare > 0 && bytes <= this.#reserve.small ? 'small' : 'large';
  }

  /** @param bytes what it wants to take */
  #shareFor({ pace, expected }: Lease, bytes: number): Share {
    return this.#shareOf(Math.max(pace.arrived, expected ?? 0, bytes));
  }

  /** Bytes that a share can still give, reserves apart. */
  #free(share: Share, small = this.#used.small): number {
    const ownSmall = this.#smallShare - this.#reserve.small;
    const common = this.total - this.#reserve.large - this.#smallShare - this.#used.large;
    if (share === 'large') return common - Math.max(0, small - ownSmall);
    return ownSmall - small + (this.#line.large.length > 0 ? 0 : common);
  }

  /** A body that turned out large moves to that share with all it holds. */
  #charge(share: Share, lease: Lease, bytes: number): boolean {
    const moves = share === 'large' ? lease.taken.small : 0;
    if (this.#free(share, this.#used.small - moves) < bytes + moves) return false;
    this.#used.small -= moves;
    lease.taken.small -= moves;
    this.#used[share] += bytes + moves;
    lease.taken[share] += bytes + moves;
    return true;
  }

  #borrow(share: Share, lease: Lease, bytes: number): boolean {
    if (this.#holder[share] !== lease || lease.borrowed[share] + bytes > this.#reserve[share]) return false;
    lease.borrowed[share] += bytes;
    return true;
  }

  #serve(): void {
    for (const share of SHARES) {
      const line = this.#line[share];
      for (let head = line.head; head !== undefined; head = line.head) {
        if (!this.#grant(share, head.lease, head.bytes)) break;
        line.shift();
        head.resolve();
      }
    }
  }

  #grant(share: Share, lease: Lease, bytes: number): boolean {
    if (this.#charge(share, lease, bytes)) return true;
    this.#holder[share] ??= lease;
    return this.#borrow(share, lease, bytes);
  }

  /** Ends a wait; false when there was none. Nearly every lease ends without one, and an error costs its stack. */
  #end(lease: Lease, reason: () => Error): boolean {
    const waiter = this.#line.small.remove(lease) ?? this.#line.large.remove(lease);
    waiter?.reject(reason());
    return waiter !== undefined;
  }

  /** Of those whose memory somebody waits for, what they can do without. */
  #releaseSpares(): void {
    for (const lease of this.#leases) {
      if (this.waiters === 0) return;
      if (lease.spare === null || lease.spare.bytes === 0) continue;
      if (SHARES.some((share) => this.#line[share].length > 0 && this.#useOf(lease, share) > 0)) {
        lease.spare.release();
      }
    }
  }

  /**
   * Refuses the slowest holders, as many as the head of the line needs, counting those refused before; of equally slow ones
   * the youngest, so that the others come to their end.
   */
  #refuseTheSlow(share: Share): void {
    const { head } = this.#line[share];
    if (head === undefined) return;
    let missing = head.bytes - this.#free(share);
    const holders = [...this.#leases].map((lease) => ({ lease, use: this.#useOf(lease, share) }));
    for (const { lease, use } of holders) if (lease.refusal !== null) missing -= use;
    const slow = holders
      .filter(({ lease, use }) => use > 0 && lease.refusal === null)
      .map((holder) => ({ ...holder, sufficiency: this.#sufficiency(holder.lease, share) }))
      .filter(({ sufficiency }) => sufficiency < 1)
      .sort(
        (one, other) => rank(one.sufficiency) - rank(other.sufficiency) || other.lease.age - one.lease.age,
      );
    for (const { lease, use } of slow) {
      if (missing <= 0) return;
      missing -= use;
      this.#refuse(lease);
    }
  }

  /** What a share would gain if the lease gave everything back. */
  #useOf({ taken, borrowed }: Lease, share: Share): number {
    if (share === 'large') return taken.large + borrowed.large + (this.#free('small') < 0 ? taken.small : 0);
    return taken.small + borrowed.small + (this.#line.large.length > 0 ? 0 : taken.large);
  }

  /** What has outgrown the small share and waits for the large one has no claim to what it still holds there. */
  #sufficiency(lease: Lease, share: Share): number {
    const outgrown = share === 'small' && lease.taken.small > 0 && this.#shareFor(lease, 0) === 'large';
    return outgrown ? 0 : lease.pace.sufficiency();
  }

  #refuse(lease: Lease): void {
    const problem = new Problem(
      'overloaded',
      'The body came too slowly while others waited for memory; send it again.',
    );
    lease.refusal = problem;
    this.#end(lease, () => problem);
    lease.onRefused?.(problem);
  }
}

/** Within a factor of four, senders are equally slow. */
function rank(sufficiency: number): number {
  return Math.max(-20, Math.floor(Math.log(sufficiency) / Math.log(4)));
}

function leaseClosed(): Error {
  return new LeaseClosedError();
}

function outOfPatience({ patience }: Lease): Problem {
  return new Problem('overloaded', `No memory became free within ${patience / 1000} s; send it again.`);
}

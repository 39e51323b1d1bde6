import { Problem } from '../../domain/problem.js';
import { BudgetLease, LeaseClosedError, type LeaseOptions, type LeaseOwner } from './budget-lease.js';
import { FairQueue, type Resource, type Share, type Shortage, type Waiter } from './fair-queue.js';
import { FillRate, SMALL_BODY, SMALL_WITHIN } from './fill-rate.js';

/** Smallest buffer of the pool: without room for four of them there is no small share. */
const SMALLEST = 64 * 1024;

/** A large delivery gets this much ahead of the queue, the size of a chunk of Node's HTTP server. */
const FIRST_CHUNK = 64 * 1024;

/** First chunks may take this fraction of the budget. */
const FIRST_CHUNKS = 1 / 16;

const SHARES = ['small', 'large'] as const;

interface BudgetOptions {
  /** Bytes in total, reserves included. */
  readonly total: number;
  /** Bytes set aside for the oldest waiting delivery; the size of one part. */
  readonly reserve: number;
  /** Milliseconds. Default `performance.now`. */
  readonly now?: () => number;
}

/**
 * The process-wide byte budget. Every buffer that holds a delivery's bytes is taken from it, so memory use is bounded for
 * any number and size of uploads, and shared out by a `FairQueue`. The reasons: docs/decisions/byte-budget.md.
 *
 * - **Small share.** A quarter is reserved for bodies up to `smallBody`. Larger bodies never use it. Small bodies also use free
 *   memory outside it, unless large ones wait for that. A body of unknown size counts as small until it exceeds `smallBody`.
 * - **Queues.** Each share has one queue, the oldest delivery first. A small body counts as younger by the time that its missing bytes may
 *   take, 10 s for a whole one: transcripts do not wait for senders that stop half-way, which compete among themselves.
 * - **Whole parts.** A large delivery gets its first chunk ahead of the queue. Beyond that it gets memory only as far as older ones
 *   can fill their parts: memory that is spread over many unfinished parts could not be flushed.
 * - **Reserves.** Each share sets bytes aside for the head of its queue: the most that a delivery needs before it can
 *   flush its memory to the store (a part, or a small body). So the head always progresses, and deadlock is impossible.
 *   Callers contribute: before they wait they flush what they can (`archive/archive.ts`).
 * - **Fill rate.** Once deliveries have waited for a second, slow ones are refused until what the others wait for is free: those that
 *   are silent for 3 s, or fill their memory too slowly to flush it in time (30 s for a part, 10 s for a small body).
 * - **First byte.** A wait for the first byte of memory ends after `firstByteTimeout`.
 *
 * `test/unit/lib/memory/byte-budget.test.ts` proves each rule.
 */
export class ByteBudget implements LeaseOwner, Resource<BudgetLease> {
  readonly total: number;
  readonly #now: () => number;
  /** Bytes that large bodies never take, small reserve included. */
  readonly #smallShare: number;
  readonly #reserve: Readonly<Record<Share, number>>;
  readonly #used = { small: 0, large: 0 };
  readonly #holder: Record<Share, BudgetLease | null> = { small: null, large: null };
  readonly #queue: FairQueue<BudgetLease>;
  #lastAge = 0;

  constructor({ total, reserve, now = () => performance.now() }: BudgetOptions) {
    if (total < reserve * 2) {
      throw new RangeError(`a budget of ${total} bytes cannot hold two parts of ${reserve} bytes`);
    }
    this.total = total;
    this.#now = now;
    this.#queue = new FairQueue(this, now);
    const share = Math.min(Math.floor(total / 4), total - 2 * reserve);
    const smallBody = share < 4 * SMALLEST ? 0 : Math.min(SMALL_BODY, 2 ** Math.floor(Math.log2(share / 4)));
    this.#smallShare = smallBody === 0 ? 0 : share;
    this.#reserve = { small: smallBody, large: reserve };
  }

  get used(): number {
    const { small, large } = this.#holder;
    return this.#used.small + this.#used.large + (small?.borrowed.small ?? 0) + (large?.borrowed.large ?? 0);
  }

  /** Leases that wait for bytes right now. */
  get waiters(): number {
    return this.#queue.waiters.length;
  }

  /** The length of the queue that a delivery of that size would join; null for an unknown size. */
  waitersFor(expected: number | null): number {
    return this.#queue.waitersOf(this.#shareOf(expected ?? 0));
  }

  lease({ expected = null, firstByteTimeout = Number.POSITIVE_INFINITY }: LeaseOptions = {}): BudgetLease {
    const steps = { part: this.#reserve.large, smallBody: this.#reserve.small };
    const fillRate = new FillRate(this.#now, steps, expected);
    const age = ++this.#lastAge;
    const lease = new BudgetLease(this, { age, begun: this.#now(), fillRate, expected, firstByteTimeout });
    this.#queue.holders.add(lease);
    return lease;
  }

  tryTake(lease: BudgetLease, bytes: number): boolean {
    const share = this.#shareFor(lease, bytes);
    if (this.#borrow(share, lease, bytes)) return true;
    if (this.#isFirstChunk(share, lease, bytes)) return this.#charge(share, lease, bytes);
    return !this.#queue.hasWaiterBefore(lease, share) && this.#chargeWithRoom(share, lease, bytes);
  }

  wait(lease: BudgetLease, bytes: number): Promise<void> {
    const share = this.#shareFor(lease, bytes);
    if (bytes > this.#reserve[share]) {
      return Promise.reject(
        new RangeError(`a single take of ${bytes} bytes exceeds the reserve of ${this.#reserve[share]}`),
      );
    }
    // The wait for memory is the receiver's time, not the sender's.
    lease.fillRate.received(0);
    return this.#queue.wait(lease, bytes, share);
  }

  /** Repays the reserves first, so that the next in the queue can use them. */
  give(lease: BudgetLease, bytes: number): void {
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
    if (lease.closed && lease.held === 0) this.#queue.holders.delete(lease);
    this.#queue.serve();
  }

  flushed(): void {
    this.#queue.serve();
  }

  drop(lease: BudgetLease): void {
    if (lease.held === 0) this.#queue.holders.delete(lease);
    if (this.#queue.end(lease, leaseClosed)) this.#queue.serve();
  }

  /** Runs a few times a second while leases wait. Times out waits and refuses slow deliveries. */
  checkWaiters(): void {
    this.#queue.check();
  }

  /** When a small body should be complete, or when a large one began. */
  rank({ begun, expected, fillRate }: BudgetLease, share: Share): number {
    if (share === 'large') return begun;
    const lacking = Math.max(0, (expected ?? SMALL_BODY) - fillRate.arrived);
    return begun + (lacking / SMALL_BODY) * SMALL_WITHIN;
  }

  grant({ holder: lease, units: bytes, share }: Waiter<BudgetLease>, isNext: boolean): boolean {
    if (!isNext) return this.#isFirstChunk(share, lease, bytes) && this.#charge(share, lease, bytes);
    if (this.#chargeWithRoom(share, lease, bytes)) return true;
    this.#holder[share] ??= lease;
    return this.#borrow(share, lease, bytes);
  }

  waitError({ holder }: Waiter<BudgetLease>, waited: number): Problem | null {
    return holder.bodyBytes === 0 && waited >= holder.firstByteTimeout ? firstByteTimedOut(holder) : null;
  }

  #shareOf(bytes: number): Share {
    return this.#smallShare > 0 && bytes <= this.#reserve.small ? 'small' : 'large';
  }

  /** @param bytes the size of the next take */
  #shareFor({ fillRate, expected }: BudgetLease, bytes: number): Share {
    return this.#shareOf(Math.max(fillRate.arrived, expected ?? 0, bytes));
  }

  /** Free bytes of a share, reserves excluded. */
  #free(share: Share, small = this.#used.small): number {
    const ownSmall = this.#smallShare - this.#reserve.small;
    const common = this.total - this.#reserve.large - this.#smallShare - this.#used.large;
    if (share === 'large') return common - Math.max(0, small - ownSmall);
    return ownSmall - small + (this.#queue.waitersOf('large') > 0 ? 0 : common);
  }

  #isFirstChunk(share: Share, lease: BudgetLease, bytes: number): boolean {
    if (share === 'small' || lease.bodyBytes > 0 || bytes > FIRST_CHUNK) return false;
    let others = 0;
    for (const { held, taken } of this.#queue.holders.members())
      if (held <= FIRST_CHUNK && taken.large > 0) others += held;
    return others + bytes <= this.total * FIRST_CHUNKS;
  }

  #chargeWithRoom(share: Share, lease: BudgetLease, bytes: number): boolean {
    return this.#roomFor(share, lease) >= bytes && this.#charge(share, lease, bytes);
  }

  /** Free bytes, less what older large deliveries need to fill their parts. */
  #roomFor(share: Share, lease: BudgetLease): number {
    return this.#free(share) - (share === 'large' ? this.#claimsBefore(lease) : 0);
  }

  #claimsBefore({ age }: BudgetLease): number {
    let claims = 0;
    for (const older of this.#queue.holders.members())
      if (older.age < age && this.#shareFor(older, 0) === 'large') claims += older.claim;
    return claims;
  }

  /** Takes bytes from a share. What a body that outgrew the small share holds there moves to the large share. */
  #charge(share: Share, lease: BudgetLease, bytes: number): boolean {
    const moves = share === 'large' ? lease.taken.small : 0;
    if (this.#free(share, this.#used.small - moves) < bytes + moves) return false;
    this.#used.small -= moves;
    lease.taken.small -= moves;
    this.#used[share] += bytes + moves;
    lease.taken[share] += bytes + moves;
    return true;
  }

  #borrow(share: Share, lease: BudgetLease, bytes: number): boolean {
    if (this.#holder[share] !== lease || lease.borrowed[share] + bytes > this.#reserve[share]) return false;
    lease.borrowed[share] += bytes;
    return true;
  }

  /** Releases discardable memory of the shares that leases wait for. */
  reclaim(): void {
    for (const lease of this.#queue.holders.members()) {
      if (lease.discardable === null || lease.discardable.bytes === 0) continue;
      if (SHARES.some((share) => this.#queue.waitersOf(share) > 0 && this.#useOf(lease, share) > 0)) {
        lease.discardable.release();
      }
    }
  }

  /** Refusing a waiter also saves the bytes that it waits for. */
  shortage(share: Share, waiters: readonly Waiter<BudgetLease>[]): Shortage<BudgetLease> {
    const wanted = new Map<BudgetLease, number>();
    for (const { holder, units, share: waitsFor } of waiters)
      if (waitsFor === share) wanted.set(holder, units);
    const [oldest] = wanted.keys();
    let missing = oldest === undefined ? 0 : -this.#roomFor(share, oldest);
    for (const bytes of wanted.values()) missing += bytes;
    return {
      missing,
      gain: (lease) => this.#useOf(lease, share) + (wanted.get(lease) ?? 0),
      sufficiency: (lease) => this.#sufficiency(lease, share),
    };
  }

  /** Bytes that a share would gain if the lease returned everything. */
  #useOf({ taken, borrowed }: BudgetLease, share: Share): number {
    if (share === 'large') return taken.large + borrowed.large + (this.#free('small') < 0 ? taken.small : 0);
    return taken.small + borrowed.small + (this.#queue.waitersOf('large') > 0 ? 0 : taken.large);
  }

  /** A lease that has outgrown the small share and waits for the large one counts as slow there. */
  #sufficiency(lease: BudgetLease, share: Share): number {
    const outgrown = share === 'small' && lease.taken.small > 0 && this.#shareFor(lease, 0) === 'large';
    return outgrown ? 0 : lease.fillRate.sufficiency();
  }

  refuse(lease: BudgetLease): void {
    const problem = new Problem(
      'overloaded',
      'The body arrived too slowly while others waited for memory; send it again.',
    );
    lease.refusal = problem;
    this.#queue.end(lease, () => problem);
    lease.onRefused?.(problem);
  }
}

function leaseClosed(): Error {
  return new LeaseClosedError();
}

function firstByteTimedOut({ firstByteTimeout }: BudgetLease): Problem {
  return new Problem(
    'overloaded',
    `No memory became free within ${firstByteTimeout / 1000} s; send it again.`,
  );
}

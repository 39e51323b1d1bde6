import type { Problem } from '../../domain/problem.js';

/** Milliseconds that a delivery waits before slow ones are refused in its favour. */
const BEFORE_REFUSING = 1_000;

const CHECK_EVERY = 250;

/** Bodies up to `SMALL_BODY` have a share of every resource that larger ones never take. */
export type Share = 'small' | 'large';

/** A delivery that holds units of the resource, or waits for some. */
export interface Holder {
  /** A sequence number. */
  readonly age: number;
  /** Set when it was refused: it gets no more, and returns what it holds. */
  refusal: Problem | null;
  /** Maintained by the queue: the index among the holders, or -1. */
  setIndex: number;
}

export interface Waiter<Member extends Holder> {
  readonly holder: Member;
  readonly units: number;
  readonly share: Share;
  /** When the wait began. */
  readonly since: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

type Turn<Member extends Holder> = Pick<Waiter<Member>, 'holder' | 'share'>;

/** Units that waiting deliveries lack. */
export interface Shortage<Member extends Holder> {
  readonly missing: number;
  /** By how many units the shortage shrinks when the holder is refused. */
  gain(holder: Member): number;
  /** The sender's rate as a fraction of the lowest that is fast enough; below 1 it is too slow, 0 silent. */
  sufficiency(holder: Member): number;
}

/** The resource that the queue shares out: bytes of memory, or slots. */
export interface Resource<Member extends Holder> {
  /** Position in the queue: the lowest rank is served first, among equal ranks the oldest holder. */
  rank(holder: Member, share: Share): number;
  /** Hands out the units if they are free; `isNext` is false while another waiter of the same share comes first. */
  grant(waiter: Waiter<Member>, isNext: boolean): boolean;
  /** The error that ends the wait after `waited` milliseconds; null while it goes on. */
  waitError(waiter: Waiter<Member>, waited: number): Error | null;
  /** Frees what holders can do without. Called while some wait. */
  reclaim?(): void;
  /** What the waiters of a share lack. @param waiters all that have waited for a second */
  shortage(share: Share, waiters: readonly Waiter<Member>[]): Shortage<Member>;
  refuse(holder: Member): void;
}

/**
 * The deliveries that hold units of a resource, and the queue of those that wait for some.
 *
 * - **Order.** The queue is served by rank. Within a share no waiter overtakes another.
 * - **Pace.** Once deliveries have waited for a second, slow senders are refused until what the others lack is free, the slowest first.
 *   Of equally slow ones the youngest is refused, so that the others can finish.
 */
export class FairQueue<Member extends Holder> {
  readonly holders = new ShortLivedSet<Member>();
  readonly #resource: Resource<Member>;
  readonly #now: () => number;
  readonly #waiters: Waiter<Member>[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** @param now in milliseconds */
  constructor(resource: Resource<Member>, now: () => number) {
    this.#resource = resource;
    this.#now = now;
  }

  /** Waiters in the order in which they are served. */
  get waiters(): readonly Waiter<Member>[] {
    return this.#waiters;
  }

  waitersOf(share: Share): number {
    let count = 0;
    for (const waiter of this.#waiters) if (waiter.share === share) count += 1;
    return count;
  }

  /** Whether a waiter for the share comes before this holder. */
  hasWaiterBefore(holder: Member, share: Share): boolean {
    if (this.#waiters.length === 0) return false;
    const turn = { holder, share };
    return this.#waiters.some((waiter) => waiter.share === share && this.#order(waiter, turn) < 0);
  }

  wait(holder: Member, units: number, share: Share): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ holder, units, share, since: this.#now(), resolve, reject });
      this.serve();
      if (this.#waiters.length === 0) return;
      this.#resource.reclaim?.();
      // `setImmediate`: after a pause of the process, read first what arrived meanwhile.
      this.#timer ??= setInterval(() => setImmediate(() => this.check()), CHECK_EVERY).unref();
    });
  }

  /** Ends a wait; false when there was none. The error is created only when needed, because it captures a stack. */
  end(holder: Member, reason: () => Error): boolean {
    const waiter = this.#waiters.find((one) => one.holder === holder);
    if (waiter === undefined) return false;
    this.#remove(waiter);
    waiter.reject(reason());
    return true;
  }

  /** Serves waiters; call it after units were returned. */
  serve(): void {
    if (this.#waiters.length === 0) return;
    const instant = this.#now();
    const blocked = { small: false, large: false };
    this.#waiters.sort((one, other) => this.#order(one, other));
    for (const waiter of [...this.#waiters]) {
      const end = this.#resource.waitError(waiter, instant - waiter.since);
      const isServed = end === null && this.#resource.grant(waiter, !blocked[waiter.share]);
      if (end === null && !isServed) blocked[waiter.share] = true;
      else this.#remove(waiter);
      if (isServed) waiter.resolve();
      else if (end !== null) waiter.reject(end);
    }
  }

  /** Runs a few times a second while deliveries wait. */
  check(): void {
    const instant = this.#now();
    this.serve();
    if (this.#waiters.length > 0) this.#resource.reclaim?.();
    for (const share of ['large', 'small'] as const) {
      const waiting = this.#waiters.filter(({ since }) => instant - since >= BEFORE_REFUSING);
      if (waiting.length > 0) this.#refuseSlowest(this.#resource.shortage(share, waiting));
    }
    if (this.#waiters.length > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Refuses slow holders until the shortage is covered. Holders refused earlier count, although they may not have returned their units. */
  #refuseSlowest({ missing, gain, sufficiency }: Shortage<Member>): void {
    let lacking = missing;
    if (lacking <= 0) return;
    const slow: { holder: Member; gained: number; rank: number }[] = [];
    for (const holder of this.holders.members()) {
      const gained = gain(holder);
      const rate = sufficiency(holder);
      if (holder.refusal !== null) lacking -= gained;
      else if (gained > 0 && rate < 1) slow.push({ holder, gained, rank: slowness(rate) });
    }
    slow.sort((one, other) => one.rank - other.rank || other.holder.age - one.holder.age);
    for (const { holder, gained } of slow) {
      if (lacking <= 0) return;
      lacking -= gained;
      this.#resource.refuse(holder);
    }
  }

  #order(one: Turn<Member>, other: Turn<Member>): number {
    const ahead = this.#resource.rank(one.holder, one.share) - this.#resource.rank(other.holder, other.share);
    return ahead || one.holder.age - other.holder.age;
  }

  #remove(waiter: Waiter<Member>): void {
    this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
  }
}

/** Senders within a factor of four count as equally slow. */
function slowness(sufficiency: number): number {
  return Math.max(-20, Math.floor(Math.log(sufficiency) / Math.log(4)));
}

/**
 * A set of objects that live no longer than a callback.
 *
 * A `Set` allocates a new table every few dozen additions, and the table it replaces refers to the new one (V8,
 * `OrderedHashTable::Rehash`). Once one of them has reached the old generation, garbage or not, minor collections keep
 * all that follow, and with them every callback, until the next full collection
 * (`test/integration/young-garbage.test.ts`).
 */
export class ShortLivedSet<Member extends Pick<Holder, 'setIndex'>> {
  readonly #members: Member[] = [];

  add(member: Member): void {
    if (member.setIndex < 0) member.setIndex = this.#members.push(member) - 1;
  }

  delete(member: Member): void {
    const index = member.setIndex;
    if (index < 0) return;
    member.setIndex = -1;
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    last.setIndex = index;
    this.#members[index] = last;
  }

  /** A copy, in no particular order. */
  members(): Member[] {
    return [...this.#members];
  }
}

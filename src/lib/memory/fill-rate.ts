/** While others wait, a part must arrive within this time, so that its memory is flushed; in milliseconds. */
export const PART_WITHIN = 30_000;

/** The same for a small body, or the small rest of a large one, so that others wait no longer for their first byte. */
export const SMALL_WITHIN = 10_000;

/** Bodies up to this size have their own share of memory and of slots; in bytes. */
export const SMALL_BODY = 1024 * 1024;

/** Minimum of the sender's own time before its rate counts, in milliseconds. */
const GRACE = 2_000;

/** Milliseconds of silence after which a sender counts as the slowest. */
const SILENCE = 3_000;

/** Memory is taken ahead for what a sender will send within this time, in milliseconds. */
const LOOK_AHEAD = 2_000;

/** Added to the measured time, so that an initial burst does not count as the sender's rate. */
const BURST = 100;

/**
 * A sender that the receiver holds up fills the buffers of its connection. So this many bytes, or the rest of the body, arrive within
 * `BUFFERED_WITHIN` milliseconds after the receiver's wait. Otherwise the sender had sent nothing meanwhile, and the wait was its own time.
 */
const BUFFERED = 64 * 1024;
const BUFFERED_WITHIN = 250;

interface FillSteps {
  /** Bytes after which memory is flushed to the store. */
  readonly part: number;
  /** Bytes after which a delivery of unknown size counts as large. */
  readonly smallBody: number;
}

/**
 * The rate at which a delivery fills its memory. Only the sender's own time counts, from when the receiver is ready for
 * more until more arrives: a wait for memory or for the store does not make a sender slow. Nor does it make a slow sender
 * fast, although what it sent meanwhile arrives in no time.
 */
export class FillRate {
  /** Bytes of items received so far. */
  arrived = 0;
  readonly #now: () => number;
  readonly #steps: FillSteps;
  readonly #expected: number | null;
  /** Bytes arrived and sender time spent at the last flush. */
  #flushedAt = { arrived: 0, spent: 0 };
  #spent = 0;
  #since: number | null;
  /** Start of the receiver's current wait. */
  #pausedAt = 0;
  /** Milliseconds of receiver waits that may turn out to be the sender's time, and the bytes and sender time that followed. */
  #paused = 0;
  #bytesAfter = 0;
  #spentAfter = 0;
  #complete = false;
  /** True from a flush until the receiver is ready for more: it may have to wait for the store first. */
  #isFlushing = false;

  /** @param expected bytes of the whole delivery; null when unknown */
  constructor(now: () => number, steps: FillSteps, expected: number | null) {
    this.#now = now;
    this.#steps = steps;
    this.#expected = expected;
    this.#since = now();
  }

  /** Counts bytes that arrived. From here on the receiver's time runs. */
  received(bytes: number): void {
    this.arrived += bytes;
    this.#bytesAfter += bytes;
    if (this.#since === null) return;
    this.#pausedAt = this.#now();
    const spent = this.#pausedAt - this.#since;
    this.#since = null;
    this.#spentAfter += spent;
    this.#spent += spent + this.#ownPause();
    if (this.#bytesAfter >= BUFFERED || this.#spentAfter > BUFFERED_WITHIN) this.#paused = 0;
  }

  /** The receiver is ready for more. From here on the sender's time runs. */
  awaitSender(): void {
    this.#isFlushing = false;
    if (this.#since !== null) return;
    this.#since = this.#now();
    if (this.#paused === 0) {
      this.#bytesAfter = 0;
      this.#spentAfter = 0;
    }
    this.#paused += this.#since - this.#pausedAt;
  }

  /** What has arrived so far is being written to the store. */
  flushed(): void {
    this.#flushedAt = { arrived: this.arrived, spent: this.#spent };
    this.#isFlushing = true;
  }

  /** Everything has arrived: from here on the memory waits only for the store. */
  complete(): void {
    this.received(0);
    this.#complete = true;
  }

  /**
   * Bytes of memory to take beyond what has arrived: little at first, then as much as the sender's rate promises. A body
   * that counts as small never gets more than a small body may have.
   */
  lookAhead(): number {
    const promised = (this.arrived / (this.#spent + BURST)) * LOOK_AHEAD;
    if (this.#flushedAt.arrived > 0) return promised;
    const room = this.#steps.smallBody - this.arrived;
    return Math.min(promised, 3 * this.arrived, room >= 0 ? room : Number.POSITIVE_INFINITY);
  }

  /** Bytes that have arrived since the last flush. */
  get gathered(): number {
    return this.arrived - this.#flushedAt.arrived;
  }

  /** Bytes expected before the next flush at the sender's rate. A sender that became slow is measured by the current part only. */
  due(): number {
    if (this.#complete || this.#isFlushing) return 0;
    const spent = this.#spent + this.#idle();
    const recent = spent - this.#flushedAt.spent;
    const rate = recent < GRACE ? this.arrived / Math.max(1, spent) : this.gathered / recent;
    return Math.min(this.#missing(this.gathered), rate * LOOK_AHEAD);
  }

  /** The sender's rate as a fraction of the lowest at which its memory is flushed in time; below 1 it is too slow, 0 silent. */
  sufficiency(): number {
    if (this.#complete) return Number.POSITIVE_INFINITY;
    if (this.#idle() >= SILENCE) return 0;
    const spent = this.#spent + this.#idle() + this.#ownPause(this.#idle()) - this.#flushedAt.spent;
    if (spent < GRACE) return Number.POSITIVE_INFINITY;
    const { gathered } = this;
    const whole = Math.max(1, gathered + this.#missing(gathered));
    const within = whole <= this.#steps.smallBody ? SMALL_WITHIN : PART_WITHIN;
    return (gathered * within) / (spent * whole);
  }

  #idle(): number {
    return this.#since === null ? 0 : this.#now() - this.#since;
  }

  /** Receiver waits that turned out to be the sender's time. */
  #ownPause(idle = 0): number {
    return this.#spentAfter + idle > BUFFERED_WITHIN ? this.#paused : 0;
  }

  /** Bytes that must arrive before the next flush. A body larger than declared has no known end. */
  #missing(gathered: number): number {
    const { part, smallBody } = this.#steps;
    if (this.#expected !== null && this.arrived <= this.#expected) {
      return Math.max(0, Math.min(part - gathered, this.#expected - this.arrived));
    }
    return Math.max(0, (this.arrived <= smallBody ? smallBody : part) - gathered);
  }
}

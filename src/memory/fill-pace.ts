/** Whoever holds memory while others wait has to hand it on within this time, in milliseconds. */
export const HAND_ON_WITHIN = 30_000;

/** A sender is not judged by less of its time than this, in milliseconds. */
const GRACE = 2_000;

/** Memory is taken for what a sender will send within this time, in milliseconds. */
const LOOK_AHEAD = 2_000;

/** Added to the time measured, so that a burst at the beginning is not taken for the sender's speed. */
const BURST = 100;

export interface FillSteps {
  /** Bytes after which memory is handed on to the store. */
  readonly part: number;
  /** Bytes after which a delivery of unknown size counts as large. */
  readonly smallBody: number;
}

/**
 * How fast a delivery fills the memory it holds. Only the sender's own time counts, from the moment we are ready for
 * more until more comes: while a delivery waits for memory or for the store, its sender is not slow.
 */
export class FillPace {
  /** Bytes of items that came so far. */
  arrived = 0;
  readonly #now: () => number;
  readonly #steps: FillSteps;
  readonly #expected: number | null;
  /** What had arrived, and how long the sender had taken, when memory was handed on last. */
  #handedOn = { arrived: 0, spent: 0 };
  #spent = 0;
  #since: number | null;
  #complete = false;

  /** @param expected bytes the whole delivery will have; null when unknown */
  constructor(now: () => number, steps: FillSteps, expected: number | null) {
    this.#now = now;
    this.#steps = steps;
    this.#expected = expected;
    this.#since = now();
  }

  /** So many bytes came; from here on it is we who take time. */
  came(bytes: number): void {
    this.arrived += bytes;
    if (this.#since === null) return;
    this.#spent += this.#now() - this.#since;
    this.#since = null;
  }

  /** We are ready for more. */
  ready(): void {
    this.#since ??= this.#now();
  }

  /** What came so far is on its way to the store. */
  handedOn(): void {
    this.#handedOn = { arrived: this.arrived, spent: this.#spent };
  }

  /** All has come: what is held from here on waits for the store alone. */
  complete(): void {
    this.came(0);
    this.#complete = true;
  }

  /**
   * Bytes that memory may be taken for beyond what came: little at first, then what the sender's speed promises; of a
   * body that counts as small never more than one may have.
   */
  ahead(): number {
    const promised = (this.arrived / (this.#spent + BURST)) * LOOK_AHEAD;
    if (this.#handedOn.arrived > 0) return promised;
    const room = this.#steps.smallBody - this.arrived;
    return Math.min(promised, 3 * this.arrived, room >= 0 ? room : Number.POSITIVE_INFINITY);
  }

  /** The sender's speed as a share of the least at which its memory is handed on in time; below 1 it is too slow. */
  sufficiency(): number {
    if (this.#complete) return Number.POSITIVE_INFINITY;
    const idle = this.#since === null ? 0 : this.#now() - this.#since;
    const spent = this.#spent + idle - this.#handedOn.spent;
    if (spent < GRACE) return Number.POSITIVE_INFINITY;
    const came = this.arrived - this.#handedOn.arrived;
    return (came * HAND_ON_WITHIN) / (spent * Math.max(1, came + this.#missing(came)));
  }

  /** Bytes that have to come before memory is handed on; a body larger than was said has no known end. */
  #missing(came: number): number {
    const { part, smallBody } = this.#steps;
    if (this.#expected !== null && this.arrived <= this.#expected) {
      return Math.max(0, Math.min(part - came, this.#expected - this.arrived));
    }
    return Math.max(0, (this.arrived <= smallBody ? smallBody : part) - came);
  }
}

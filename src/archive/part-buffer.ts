import type { BufferPool } from '../store/buffer-pool.js';
import { type BudgetLease, LeaseClosedError } from '../store/byte-budget.js';
import { SharedBuffer } from '../store/shared-buffer.js';

/** What staging needs to hold bytes: where buffers come from, and how to wait for the right to have one. */
export interface Memory {
  readonly pool: BufferPool;
  readonly lease: BudgetLease;
  /** Takes bytes from the lease; while it has to wait, lets go of everything the delivery merely keeps. */
  take(bytes: number): Promise<void> | undefined;
}

/**
 * An item of unknown size pays for a whole part once it holds more than this. Growing step by step would let many
 * uploads hold half a part each and none a whole one, and a part that is not whole cannot be handed to the store.
 */
const SMALL_ITEM = 256 * 1024;

/** Bytes of memory, and what they cost. */
interface Content {
  readonly memory: SharedBuffer;
  /** Bytes given back to the budget when nobody holds the memory any more. */
  price: number;
  readonly pooled: boolean;
}

/**
 * Gathers at most one part of an item in memory that was paid for. A single chunk is kept as it came, without
 * a copy (most callbacks are one); more are copied together into a pooled buffer.
 */
export class PartBuffer {
  #content: Content | null = null;
  #length = 0;
  #released = false;
  readonly #memory: Memory;
  readonly #limit: number;
  readonly #expected: number;

  /**
   * @param limit bytes of one part
   * @param expected bytes the item will have at most, as far as the sender says; 0 when unknown
   */
  constructor(memory: Memory, limit: number, expected: number) {
    this.#memory = memory;
    this.#limit = limit;
    this.#expected = Math.min(expected, limit);
  }

  get length(): number {
    return this.#length;
  }

  get room(): number {
    return this.#limit - this.#length;
  }

  /** The bytes gathered so far, for those who look at once; valid until the next `append` or `release`. */
  bytes(): Buffer {
    if (this.#content === null) return EMPTY;
    const { bytes } = this.#content.memory;
    return bytes.length === this.#length ? bytes : bytes.subarray(0, this.#length);
  }

  /**
   * Hands the bytes gathered so far to a call that takes its time. They are neither reused nor given back to the budget
   * before it has ended, whatever becomes of this object meanwhile; only `append` must not be called.
   */
  readBy<T>(read: (bytes: Buffer) => Promise<T>): Promise<T> {
    return this.#content === null ? read(EMPTY) : this.#content.memory.readBy(this.#length, read);
  }

  /** Appends a chunk of at most `room` bytes. Returns a promise when memory has to be waited for. */
  append(chunk: Buffer): Promise<void> | undefined {
    if (chunk.length === 0) return undefined;
    const price = this.#priceOf(chunk.length);
    const waiting = price > 0 ? this.#memory.take(price) : undefined;
    if (waiting === undefined) {
      this.#place(chunk);
      return undefined;
    }
    return waiting.then(() => {
      if (!this.#released) return this.#place(chunk);
      this.#memory.lease.give(price);
      throw new LeaseClosedError();
    });
  }

  /** Gives back what the content does not need: it came to less than was expected. */
  shrink(): void {
    if (this.#content?.pooled !== true) return;
    const size = this.#memory.pool.sizeFor(this.#length);
    const excess = this.#content.price - size;
    if (excess <= 0) return;
    this.#moveTo(size);
    this.#memory.lease.give(excess);
  }

  /** Lets go of the content for good: its memory comes back when nothing reads it any more. */
  release(): void {
    this.#released = true;
    const content = this.#content;
    this.#content = null;
    this.#length = 0;
    content?.memory.release();
  }

  #priceOf(more: number): number {
    if (this.#content === null) return more;
    return Math.max(0, this.#sizeAfter(more) - this.#content.price);
  }

  #sizeAfter(more: number): number {
    const needed = this.#length + more;
    if (this.#content?.pooled === true && needed <= this.#content.price) return this.#content.price;
    if (needed <= this.#expected) return this.#memory.pool.sizeFor(this.#expected);
    return this.#memory.pool.sizeFor(needed > SMALL_ITEM ? this.#limit : needed);
  }

  #place(chunk: Buffer): void {
    if (this.#content === null) {
      this.#hold(chunk.length, false, (onFree) => new SharedBuffer(chunk, onFree));
    } else {
      const size = this.#sizeAfter(chunk.length);
      if (!this.#content.pooled || this.#content.price !== size) this.#moveTo(size);
      this.#memory.pool.fill(this.#content.memory.bytes, this.#length, chunk);
    }
    this.#length += chunk.length;
  }

  /** Moves the content into a pooled buffer that was paid for, together with what the old place had cost. */
  #moveTo(size: number): void {
    const before = this.#content;
    const { memory } = this.#hold(size, true, (onFree) => this.#memory.pool.take(size, onFree));
    if (before === null) return;
    before.memory.bytes.copy(memory.bytes, 0, 0, this.#length);
    before.price = 0;
    before.memory.release();
  }

  #hold(price: number, pooled: boolean, open: (onFree: () => void) => SharedBuffer): Content {
    const content: Content = {
      price,
      pooled,
      memory: open(() => this.#memory.lease.give(content.price)),
    };
    this.#content = content;
    return content;
  }
}

const EMPTY = Buffer.alloc(0);

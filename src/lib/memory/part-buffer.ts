import { type BudgetLease, LeaseClosedError } from './budget-lease.js';
import type { BufferPool } from './buffer-pool.js';

/** A delivery's access to memory: the pool of buffers, and the lease that pays for them. */
export interface Memory {
  readonly pool: BufferPool;
  readonly lease: BudgetLease;
  /** Takes bytes from the lease once they are free. Before, it releases or flushes what the delivery can do without. */
  waitFor(bytes: number): Promise<void>;
}

/** Up to this size memory is taken for what has arrived, or at once for the declared size. */
const FIRST_STEPS = 256 * 1024;

/** Content up to this size gets memory of exactly its size: the smallest buffer of the pool would cost more. */
const TINY = 32 * 1024;

/** Bytes that a chunk may keep alive beyond itself, such as the head of its request. */
const MAX_KEPT = 2 * 1024;

/** Bytes that stay unchanged and paid for until `release`, which must be called once. */
export interface HeldBytes {
  readonly bytes: Buffer;
  release(): void;
}

/**
 * Reference-counted memory. It is freed (reused by the pool, returned to the budget) when the owner and every reader have released it,
 * in any order: an owner that gives up need not know which store calls still read its bytes.
 * `test/unit/archive/foreign-bytes.test.ts` fails where a call reads without holding.
 */
class Content implements HeldBytes {
  /** Bytes charged to the budget for it. */
  price: number;
  /** Null for memory outside the pool. */
  readonly pool: BufferPool | null;
  readonly #bytes: Buffer;
  readonly #lease: BudgetLease;
  #holders = 1;

  constructor(lease: BudgetLease, bytes: Buffer, pool: BufferPool | null) {
    this.price = bytes.length;
    this.pool = pool;
    this.#bytes = bytes;
    this.#lease = lease;
  }

  /** @throws after the last release: by then it may hold the bytes of another delivery */
  get bytes(): Buffer {
    if (this.#holders === 0) throw new Error('a buffer was used after its release');
    return this.#bytes;
  }

  /** Keeps the memory for one more reader, which gets its first `length` bytes. */
  hold(length: number): HeldBytes {
    const { bytes } = this;
    this.#holders += 1;
    if (length === bytes.length) return this;
    return { bytes: bytes.subarray(0, length), release: () => this.release() };
  }

  release(): void {
    if (this.#holders === 0) throw new Error('a buffer was released more often than it was held');
    this.#holders -= 1;
    if (this.#holders > 0) return;
    this.pool?.giveBack(this.#bytes);
    this.#lease.give(this.price);
  }
}

/**
 * Gathers at most one part of an item in memory that is paid for. A single chunk is kept without a copy (most callbacks
 * are one); several are copied into a pooled buffer.
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
   * @param expected most bytes of the item as declared by the sender; 0 when unknown
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

  /** The bytes gathered so far, for immediate use: valid until the next `append` or `release`. */
  bytes(): Buffer {
    if (this.#content === null) return EMPTY;
    const { bytes } = this.#content;
    return bytes.length === this.#length ? bytes : bytes.subarray(0, this.#length);
  }

  /**
   * The bytes gathered so far, for a reader that takes its time: they stay as they are until it releases them, even if
   * this object is released before. `append` must not be called meanwhile.
   */
  hold(): HeldBytes {
    return this.#content === null ? NOTHING_HELD : this.#content.hold(this.#length);
  }

  /** Appends a chunk of at most `room` bytes if memory for it is free. */
  tryAppend(chunk: Buffer): boolean {
    const size = this.#sizeAfter(chunk.length);
    const price = this.#priceOf(size);
    if (price > 0 && !this.#memory.lease.tryTake(price)) return false;
    this.#place(chunk, size);
    return true;
  }

  /** Appends a chunk of at most `room` bytes, once there is memory for it. Rejects with `LeaseClosedError` after `release`. */
  async append(chunk: Buffer): Promise<void> {
    if (chunk.length === 0) return;
    // Decided once: the sender's rate may have changed after the wait, but exactly this was paid for.
    const size = this.#sizeAfter(chunk.length);
    const price = this.#priceOf(size);
    if (price > 0 && !this.#memory.lease.tryTake(price)) await this.#memory.waitFor(price);
    if (this.#released) {
      this.#memory.lease.give(price);
      throw new LeaseClosedError();
    }
    this.#place(chunk, size);
  }

  /** Returns memory that the content does not need because it was shorter than expected. */
  shrink(): void {
    if (this.#content === null || this.#content.pool === null) return;
    const tiny = this.#length <= TINY;
    const size = tiny ? this.#length : this.#memory.pool.sizeFor(this.#length);
    const excess = this.#content.price - size;
    if (excess <= 0) return;
    this.#moveTo(tiny ? this.#held(Buffer.allocUnsafeSlow(size)) : this.#pooled(size));
    this.#memory.lease.give(excess);
  }

  /** Releases the content for good: its memory is returned when its last reader has released it. */
  release(): void {
    this.#released = true;
    const content = this.#content;
    this.#content = null;
    this.#length = 0;
    content?.release();
  }

  #priceOf(size: number): number {
    return Math.max(0, size - (this.#content?.price ?? 0));
  }

  /** Grows in steps: for what has arrived, and for what the sender's rate promises. */
  #sizeAfter(more: number): number {
    if (this.#content === null) return more;
    const needed = this.#length + more;
    if (this.#content.pool !== null && needed <= this.#content.price) return this.#content.price;
    const { pool, lease } = this.#memory;
    const announced = needed <= this.#expected;
    if (needed <= FIRST_STEPS) {
      return pool.sizeFor(announced && this.#expected <= FIRST_STEPS ? this.#expected : needed);
    }
    const most = announced ? this.#expected : this.#limit;
    return pool.sizeFor(Math.min(most, needed + lease.fillRate.lookAhead()));
  }

  #place(chunk: Buffer, size: number): void {
    if (this.#content === null) {
      this.#content = this.#held(keepsMuchMore(chunk) ? copyOf(chunk) : chunk);
    } else {
      if (this.#content.pool === null || this.#content.price !== size) this.#moveTo(this.#pooled(size));
      this.#memory.pool.fill(this.#content.bytes, this.#length, chunk);
    }
    this.#length += chunk.length;
  }

  /** Moves the bytes to new memory, whose price includes that of the old. */
  #moveTo(place: Content): void {
    const before = this.#content;
    this.#content = place;
    if (before === null) return;
    before.bytes.copy(place.bytes, 0, 0, this.#length);
    before.price = 0;
    before.release();
  }

  #pooled(size: number): Content {
    const { lease, pool } = this.#memory;
    return new Content(lease, pool.take(size), pool);
  }

  #held(bytes: Buffer): Content {
    return new Content(this.#memory.lease, bytes, null);
  }
}

/** Whether most of the memory that the chunk keeps alive is not its own, such as the header blocks and other parts of a form. */
function keepsMuchMore({ length, buffer }: Buffer): boolean {
  return buffer.byteLength - length > Math.max(MAX_KEPT, length);
}

function copyOf(chunk: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(chunk.length);
  chunk.copy(copy);
  return copy;
}

const EMPTY = Buffer.alloc(0);
const NOTHING_HELD: HeldBytes = { bytes: EMPTY, release: () => {} };

import type { BufferPool } from '../store/buffer-pool.js';
import type { BudgetLease } from '../store/byte-budget.js';

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

/**
 * Gathers at most one part of an item in memory that was paid for. A single chunk is kept as it came, without
 * a copy (most callbacks are one); more are copied together into a pooled buffer.
 */
export class PartBuffer {
  #chunk: Buffer | null = null;
  #pooled: Buffer | null = null;
  #length = 0;
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

  /** The bytes gathered so far; valid until the next `append` or `release`. */
  bytes(): Buffer {
    if (this.#pooled !== null) return this.#pooled.subarray(0, this.#length);
    return this.#chunk ?? EMPTY;
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
    return waiting.then(() => this.#place(chunk));
  }

  /** Gives back what the content does not need: it came to less than was expected. */
  shrink(): void {
    const roomy = this.#pooled;
    const size = this.#length === 0 ? 0 : this.#memory.pool.sizeFor(this.#length);
    if (roomy === null || size === 0 || size >= roomy.length) return;
    this.#pooled = this.#memory.pool.take(size);
    roomy.copy(this.#pooled, 0, 0, this.#length);
    this.#memory.pool.give(roomy);
    this.#memory.lease.give(roomy.length - size);
  }

  /** Gives the memory back. */
  release(): void {
    const paid = this.#paid();
    if (this.#pooled !== null) this.#memory.pool.give(this.#pooled);
    this.#pooled = null;
    this.#chunk = null;
    this.#length = 0;
    if (paid > 0) this.#memory.lease.give(paid);
  }

  #paid(): number {
    return this.#pooled?.length ?? this.#chunk?.length ?? 0;
  }

  #priceOf(more: number): number {
    if (this.#length === 0) return more;
    return Math.max(0, this.#sizeAfter(more) - this.#paid());
  }

  #sizeAfter(more: number): number {
    const needed = this.#length + more;
    if (this.#pooled !== null && needed <= this.#pooled.length) return this.#pooled.length;
    if (needed <= this.#expected) return this.#memory.pool.sizeFor(this.#expected);
    return this.#memory.pool.sizeFor(needed > SMALL_ITEM ? this.#limit : needed);
  }

  #place(chunk: Buffer): void {
    if (this.#length === 0 && this.#pooled === null) {
      this.#chunk = chunk;
      this.#length = chunk.length;
      return;
    }
    const target = this.#grownFor(chunk.length);
    this.#memory.pool.fill(target, this.#length, chunk);
    this.#length += chunk.length;
  }

  #grownFor(more: number): Buffer {
    const size = this.#sizeAfter(more);
    const before = this.#pooled;
    if (before !== null && before.length === size) return before;
    const grown = this.#memory.pool.take(size);
    this.bytes().copy(grown, 0);
    if (before !== null) this.#memory.pool.give(before);
    this.#pooled = grown;
    this.#chunk = null;
    return grown;
  }
}

const EMPTY = Buffer.alloc(0);

/** Bytes that are neither reused nor returned to the budget before `release` is called, which has to happen once. */
export interface HeldBytes {
  readonly bytes: Buffer;
  release(): void;
}

/**
 * Memory with a reference count. It is freed (reused by the pool, returned to the budget) when the owner and every reader
 * have released it, in whatever order: an owner that gives up need not know which store calls still read its bytes.
 * `test/unit/archive/foreign-bytes.test.ts` fails where a call reads without holding.
 */
export class SharedBuffer implements HeldBytes {
  readonly #bytes: Buffer;
  readonly #onFreed: () => void;
  #holders = 1;

  /**
   * Held by its creator, which has to call `release`.
   *
   * @param onFreed called when the last holder has released the memory
   */
  constructor(bytes: Buffer, onFreed: () => void) {
    this.#bytes = bytes;
    this.#onFreed = onFreed;
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
    if (this.#holders === 0) this.#onFreed();
  }
}

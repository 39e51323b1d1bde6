/**
 * Memory that counts those who use it. It is freed (reused by the pool, given back to the budget) when the owner and
 * every reader have released it, whoever does so last: an owner that gives up need not know which store calls still
 * read its bytes. `test/unit/archive/foreign-bytes.test.ts` fails where a call reads without being counted.
 */
export class SharedBuffer {
  readonly #bytes: Buffer;
  readonly #onFree: () => void;
  #holders = 1;

  /** Held by its maker, who has to call `release`. */
  constructor(bytes: Buffer, onFree: () => void) {
    this.#bytes = bytes;
    this.#onFree = onFree;
  }

  /** @throws when everybody has released it: by now it may hold the bytes of another delivery */
  get bytes(): Buffer {
    if (this.#holders === 0) throw new Error('a buffer was used after its release');
    return this.#bytes;
  }

  /** Calls `read` with the first `length` bytes, and is not freed before the promise it returns has settled. */
  async readBy<T>(length: number, read: (bytes: Buffer) => Promise<T>): Promise<T> {
    const bytes = length === this.bytes.length ? this.bytes : this.bytes.subarray(0, length);
    this.#holders += 1;
    try {
      return await read(bytes);
    } finally {
      this.release();
    }
  }

  release(): void {
    if (this.#holders === 0) throw new Error('a buffer was released more often than it was held');
    this.#holders -= 1;
    if (this.#holders === 0) this.#onFree();
  }
}

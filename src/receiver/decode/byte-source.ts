import { setImmediate as nextTurn } from 'node:timers/promises';
import { BodyTooLargeError } from './decode-error.js';

/** Bytes on demand: a non-empty chunk, or null at the end. `next` is not called again before it settles. */
export interface ByteSource {
  next(): Promise<Buffer | null>;
}

/** One turn of the event loop looks at no more than this; JSON checking takes under a millisecond for it. */
const SLICE_BYTES = 256 * 1024;

/** The body as it came, counted against `maxBytes`, large chunks in slices with a turn of the event loop between. */
export class RawBody implements ByteSource {
  readonly #iterator: AsyncIterator<Buffer>;
  readonly #maxBytes: number;
  #pending: Buffer | null = null;
  #received = 0;
  #over = false;

  constructor(body: AsyncIterable<Buffer>, maxBytes: number) {
    this.#iterator = body[Symbol.asyncIterator]();
    this.#maxBytes = maxBytes;
  }

  async next(): Promise<Buffer | null> {
    if (this.#pending !== null) return this.#nextSlice(this.#pending);
    while (!this.#over) {
      const chunk = await this.#pull();
      if (chunk === null) return null;
      if (chunk.length > SLICE_BYTES) return this.#firstSlice(chunk);
      if (chunk.length > 0) return chunk;
    }
    return null;
  }

  /** Reads what is left and forgets it; the limit still holds. */
  async drain(): Promise<void> {
    this.#pending = null;
    while (!this.#over) await this.#pull();
  }

  /** Tells the sender's side that no more is wanted, as leaving a `for await` early would. */
  async close(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    try {
      await this.#iterator.return?.();
    } catch {
      // The error that made us stop is the one to tell.
    }
  }

  #firstSlice(chunk: Buffer): Buffer {
    this.#pending = chunk.subarray(SLICE_BYTES);
    return chunk.subarray(0, SLICE_BYTES);
  }

  async #nextSlice(rest: Buffer): Promise<Buffer> {
    await nextTurn();
    this.#pending = rest.length > SLICE_BYTES ? rest.subarray(SLICE_BYTES) : null;
    return rest.subarray(0, SLICE_BYTES);
  }

  async #pull(): Promise<Buffer | null> {
    try {
      const result = await this.#iterator.next();
      if (result.done) {
        this.#over = true;
        return null;
      }
      this.#received += result.value.length;
      if (this.#received <= this.#maxBytes) return result.value;
    } catch (error) {
      this.#over = true;
      throw error;
    }
    throw new BodyTooLargeError(this.#maxBytes);
  }
}

/** `first` again, then the rest of `source`: for looking at the beginning before deciding. */
export function withFirst(first: Buffer, source: ByteSource): ByteSource {
  let pending: Buffer | null = first;
  return {
    next() {
      const chunk = pending;
      pending = null;
      return chunk === null ? source.next() : Promise.resolve(chunk);
    },
  };
}

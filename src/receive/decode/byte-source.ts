import { setImmediate as nextTurn } from 'node:timers/promises';
import { BodyTooLargeError } from '../../archive/content/decode-error.js';

/** Bytes on demand: a non-empty chunk, or null at the end. `next` is not called again before it settles. */
export interface ByteSource {
  next(): Promise<Buffer | null>;
}

/** Bytes processed in one turn of the event loop; the JSON check of them takes under a millisecond. */
const SLICE_BYTES = 256 * 1024;

/** The raw body, limited to `maxBytes`. Large chunks are sliced, with a turn of the event loop between slices. */
export class RawBody implements ByteSource {
  readonly #iterator: AsyncIterator<Buffer>;
  readonly #maxBytes: number;
  readonly #onRaw: (chunk: Buffer) => void;
  #pending: Buffer | null = null;
  #putBack: Buffer | null = null;
  #bytes = 0;
  #over = false;

  /** @param onRaw called with every chunk as received */
  constructor(body: AsyncIterable<Buffer>, maxBytes: number, onRaw: (chunk: Buffer) => void) {
    this.#iterator = body[Symbol.asyncIterator]();
    this.#maxBytes = maxBytes;
    this.#onRaw = onRaw;
  }

  next(): Promise<Buffer | null> {
    const chunk = this.#putBack;
    this.#putBack = null;
    if (chunk !== null) return Promise.resolve(chunk);
    return this.#pending === null ? this.#nextChunk() : this.#nextSlice(this.#pending);
  }

  /** The next call of `next` returns this chunk again: to inspect the beginning before deciding. */
  putBack(chunk: Buffer): void {
    this.#putBack = chunk;
  }

  /** Reads and discards the rest; the limit still applies. */
  async drain(): Promise<void> {
    this.#putBack = null;
    this.#pending = null;
    while (!this.#over) {
      await this.#nextChunk();
      this.#pending = null;
    }
  }

  /** True when the iteration has ended, also with an error: there is nothing to close. */
  get over(): boolean {
    return this.#over;
  }

  /** Ends the iteration, as leaving a `for await` early would. */
  async close(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    try {
      await this.#iterator.return?.();
    } catch {
      // The error that stopped the decoder is the one to report.
    }
  }

  #firstSlice(chunk: Buffer): Buffer {
    if (chunk.length <= SLICE_BYTES) return chunk;
    this.#pending = chunk.subarray(SLICE_BYTES);
    return chunk.subarray(0, SLICE_BYTES);
  }

  async #nextSlice(rest: Buffer): Promise<Buffer> {
    await nextTurn();
    this.#pending = rest.length > SLICE_BYTES ? rest.subarray(SLICE_BYTES) : null;
    return rest.subarray(0, SLICE_BYTES);
  }

  /** The next chunk of the sender, or null at the end; none follows an error. */
  async #nextChunk(): Promise<Buffer | null> {
    while (!this.#over) {
      // A body that rejects is over.
      this.#over = true;
      const { done, value } = await this.#iterator.next();
      if (done) break;
      this.#over = false;
      this.#bytes += value.length;
      if (this.#bytes > this.#maxBytes) throw new BodyTooLargeError(this.#maxBytes);
      this.#onRaw(value);
      if (value.length > 0) return this.#firstSlice(value);
    }
    return null;
  }
}

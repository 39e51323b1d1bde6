import { setImmediate as nextTurn } from 'node:timers/promises';
import { BodyTooLargeError } from '../../content/decode-error.js';

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
  #received = 0;
  #over = false;

  /** @param onRaw called with every chunk as received */
  constructor(body: AsyncIterable<Buffer>, maxBytes: number, onRaw: (chunk: Buffer) => void) {
    this.#iterator = body[Symbol.asyncIterator]();
    this.#maxBytes = maxBytes;
    this.#onRaw = onRaw;
  }

  async next(): Promise<Buffer | null> {
    if (this.#pending !== null) return this.#nextSlice(this.#pending);
    while (!this.#over) {
      const chunk = this.#taken(await this.#pull());
      if (chunk === null) return null;
      if (chunk.length > SLICE_BYTES) return this.#firstSlice(chunk);
      if (chunk.length > 0) return chunk;
    }
    return null;
  }

  /** Reads and discards the rest; the limit still applies. */
  async drain(): Promise<void> {
    this.#pending = null;
    while (!this.#over) this.#taken(await this.#pull());
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
    this.#pending = chunk.subarray(SLICE_BYTES);
    return chunk.subarray(0, SLICE_BYTES);
  }

  async #nextSlice(rest: Buffer): Promise<Buffer> {
    await nextTurn();
    this.#pending = rest.length > SLICE_BYTES ? rest.subarray(SLICE_BYTES) : null;
    return rest.subarray(0, SLICE_BYTES);
  }

  /** The next chunk of the sender; none follows an error. */
  #pull(): Promise<IteratorResult<Buffer>> {
    return this.#iterator.next().catch((error: unknown) => {
      this.#over = true;
      throw error;
    });
  }

  #taken(result: IteratorResult<Buffer>): Buffer | null {
    if (result.done) {
      this.#over = true;
      return null;
    }
    this.#received += result.value.length;
    if (this.#received > this.#maxBytes) throw new BodyTooLargeError(this.#maxBytes);
    this.#onRaw(result.value);
    return result.value;
  }
}

/** `first` again, then the rest of `source`: to inspect the beginning before deciding. */
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

import type { Discardable } from '../lib/memory/budget-lease.js';
import { type HeldBytes, type Memory, PartBuffer } from '../lib/memory/part-buffer.js';

type Lost = 'over-cap' | 'no-memory';

/**
 * Keeps the raw bytes of a body while it is decoded, so that an undecodable one can go to quarantine. Its memory counts
 * against the delivery's lease, but is never waited for: under pressure the raw copy is released first. Chunks are copied
 * into common buffers, because a separate buffer for one byte costs hundreds of bytes.
 */
export class RawBodyCopy implements Discardable {
  readonly #memory: Memory;
  readonly #cap: number;
  readonly #declared: number;
  #last: PartBuffer;
  #parts: PartBuffer[];
  #bytes = 0;
  #lost: Lost | null;

  /**
   * @param cap limit of the bytes to keep
   * @param declared size of the body as announced by its sender, null when unknown; a body that will exceed the cap is not kept at all
   */
  constructor(memory: Memory, cap: number, declared: number | null = null) {
    this.#memory = memory;
    this.#cap = cap;
    this.#declared = declared ?? 0;
    this.#last = this.#newPart();
    this.#parts = [this.#last];
    this.#lost = this.#declared > cap ? 'over-cap' : null;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Call it with every chunk of the body. */
  keep(chunk: Buffer): void {
    if (this.#lost !== null || chunk.length === 0) return;
    if (this.#bytes + chunk.length > this.#cap) return this.#lose('over-cap');
    const { room } = this.#last;
    const piece = chunk.length <= room ? chunk : chunk.subarray(0, room);
    if (!this.#last.tryAppend(piece)) return this.#lose('no-memory');
    this.#bytes += piece.length;
    if (piece.length === chunk.length) return;
    this.#last = this.#newPart();
    this.#parts.push(this.#last);
    this.keep(chunk.subarray(piece.length));
  }

  /** The complete raw body, which stays unchanged until the reader releases it; or why it was not kept. */
  hold(): HeldBytes | Lost {
    if (this.#lost !== null) return this.#lost;
    if (this.#parts.length === 1) return this.#last.hold();
    return this.#memory.lease.tryTake(this.#bytes) ? this.#concatenated() : 'no-memory';
  }

  release(): void {
    this.#lose('no-memory');
  }

  /** Concatenates a body that exceeds the largest buffer. The copy counts against the lease as well. */
  #concatenated(): HeldBytes {
    const { lease } = this.#memory;
    const paid = this.#bytes;
    return {
      bytes: Buffer.concat(this.#parts.map((part) => part.bytes())),
      release: () => lease.give(paid),
    };
  }

  #lose(why: Lost): void {
    this.#lost ??= why;
    for (const part of this.#parts) part.release();
    this.#parts = [];
    this.#bytes = 0;
  }

  #newPart(): PartBuffer {
    return new PartBuffer(this.#memory, this.#memory.pool.largest, this.#declared);
  }
}

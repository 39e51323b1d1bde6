import type { Discardable } from '../memory/budget-lease.js';
import { type Memory, PartBuffer } from '../memory/part-buffer.js';
import type { HeldBytes } from '../memory/shared-buffer.js';

/**
 * Keeps the raw bytes of a body while it is decoded, so that an undecodable one can go to quarantine. Its memory counts
 * against the delivery's lease, but is never waited for: under pressure the raw copy is the first to be released. Chunks
 * are copied together, because a separate buffer of one byte costs hundreds.
 */
export interface RawBodyCopy extends Discardable {
  /** Must be called with every chunk of the body. */
  keep(chunk: Buffer): void;
  /** The complete raw body, which stays as it is until its reader releases it; or why it was not kept. */
  hold(): HeldBytes | 'over-cap' | 'no-memory';
}

/**
 * @param cap most bytes to keep
 * @param declared size of the body by its sender, null when unknown; a body that will exceed the cap is not kept at all
 */
export function createRawBodyCopy(memory: Memory, cap: number, declared: number | null = null): RawBodyCopy {
  const { lease, pool } = memory;
  const newPart = () => new PartBuffer(memory, pool.largest, declared ?? 0);
  let last = newPart();
  let parts = [last];
  let kept = 0;
  let lost: 'over-cap' | 'no-memory' | null = declared !== null && declared > cap ? 'over-cap' : null;

  function lose(why: 'over-cap' | 'no-memory'): void {
    lost ??= why;
    for (const part of parts) part.release();
    parts = [];
    kept = 0;
  }

  function keep(chunk: Buffer): void {
    if (lost !== null || chunk.length === 0) return;
    if (kept + chunk.length > cap) return lose('over-cap');
    const piece = chunk.length <= last.room ? chunk : chunk.subarray(0, last.room);
    if (!last.tryAppend(piece)) return lose('no-memory');
    kept += piece.length;
    if (piece.length === chunk.length) return;
    last = newPart();
    parts.push(last);
    keep(chunk.subarray(piece.length));
  }

  /** A body beyond the largest buffer is concatenated for its reader, and paid for once more. */
  function concatenated(): HeldBytes {
    const bytes = kept;
    return { bytes: Buffer.concat(parts.map((part) => part.bytes())), release: () => lease.give(bytes) };
  }

  return {
    get bytes() {
      return kept;
    },
    keep,
    hold() {
      if (lost !== null) return lost;
      if (parts.length === 1) return last.hold();
      return lease.tryTake(kept) ? concatenated() : 'no-memory';
    },
    release: () => lose('no-memory'),
  };
}

import { describe, expect, it } from '@jest/globals';
import { createBufferPool } from '../../../src/lib/memory/buffer-pool.js';
import { ByteBudget } from '../../../src/lib/memory/byte-budget.js';
import type { HeldBytes, Memory } from '../../../src/lib/memory/part-buffer.js';
import { RawBodyCopy } from '../../../src/receive/raw-body-copy.js';

const KIB = 1024;
const LARGEST = 256 * KIB;

function memoryOf(parts: number) {
  const budget = new ByteBudget({ total: parts * LARGEST, reserve: LARGEST });
  const lease = budget.lease();
  const pool = createBufferPool({ largest: LARGEST, maxBytes: LARGEST });
  const memory: Memory = { pool, lease, waitFor: (bytes) => lease.take(bytes) };
  return { memory, lease };
}

const bytes = (length: number, fill = 'a') => Buffer.alloc(length, fill);

function contentOf(kept: RawBodyCopy): Buffer | string {
  const held = kept.hold();
  if (typeof held === 'string') return held;
  const content = Buffer.from(held.bytes);
  held.release();
  return content;
}

describe('the raw body copy', () => {
  it('keeps all chunks in order and pays for them', () => {
    const { memory, lease } = memoryOf(4);
    const kept = new RawBodyCopy(memory, 50);
    kept.keep(bytes(10, 'a'));
    expect(lease.held).toBe(10);
    kept.keep(bytes(10, 'b'));
    expect(contentOf(kept)).toEqual(Buffer.concat([bytes(10, 'a'), bytes(10, 'b')]));
    expect(lease.held).toBe(64 * KIB);
    expect(kept.bytes).toBe(20);
  });

  it('copies chunks of single bytes together', () => {
    const { memory, lease } = memoryOf(4);
    const kept = new RawBodyCopy(memory, 64 * KIB);
    for (let n = 0; n < 64 * KIB; n++) kept.keep(bytes(1, 'x'));
    expect(bytes(64 * KIB, 'x').equals(contentOf(kept) as Buffer)).toBe(true);
    expect(lease.held).toBe(64 * KIB);
  });

  it('puts together what is larger than any buffer, pays for that, and gives all of it back', () => {
    const { memory, lease } = memoryOf(16);
    const kept = new RawBodyCopy(memory, 3 * LARGEST);
    const chunks = Array.from({ length: 10 }, (_, n) => bytes(64 * KIB, String(n)));
    for (const chunk of chunks) kept.keep(chunk);
    const held = kept.hold() as HeldBytes;
    expect(Buffer.concat(chunks).equals(held.bytes)).toBe(true);
    expect(lease.held).toBeGreaterThanOrEqual(2 * 640 * KIB);
    held.release();
    kept.release();
    expect(lease.held).toBe(0);
  });

  it('keeps the body for its reader when it is released meanwhile, and pays for it until then', () => {
    const { memory, lease } = memoryOf(4);
    const kept = new RawBodyCopy(memory, 50);
    kept.keep(bytes(10));
    const held = kept.hold() as HeldBytes;
    kept.release();
    expect(lease.held).toBe(10);
    expect(held.bytes).toEqual(bytes(10));
    held.release();
    expect(lease.held).toBe(0);
  });

  it('releases everything once a body exceeds the cap', () => {
    const { memory, lease } = memoryOf(4);
    const kept = new RawBodyCopy(memory, 15);
    kept.keep(bytes(10));
    kept.keep(bytes(10));
    kept.keep(bytes(1));
    expect(lease.held).toBe(0);
    // Others wait for memory: the body is no less too large.
    kept.release();
    expect(contentOf(kept)).toBe('over-cap');
  });

  it('does not begin to keep a body that is declared to exceed the cap', () => {
    const { memory, lease } = memoryOf(4);
    const kept = new RawBodyCopy(memory, 15, 16);
    kept.keep(bytes(10));
    expect(lease.held).toBe(0);
    expect(contentOf(kept)).toBe('over-cap');
  });

  it('keeps a body that is declared to fit', () => {
    const kept = new RawBodyCopy(memoryOf(4).memory, 15, 15);
    kept.keep(bytes(15));
    expect(contentOf(kept)).toEqual(bytes(15));
  });

  it('reports that no memory was free, and takes none', () => {
    const { memory, lease } = memoryOf(2);
    const kept = new RawBodyCopy(memory, 8 * LARGEST);
    for (let n = 0; n < 32; n++) kept.keep(bytes(64 * KIB));
    expect(contentOf(kept)).toBe('no-memory');
    expect(lease.held).toBe(0);
  });

  it('returns its memory when it is released', () => {
    const { memory, lease } = memoryOf(4);
    const kept = new RawBodyCopy(memory, 50);
    kept.keep(bytes(10));
    kept.release();
    expect(lease.held).toBe(0);
    expect(contentOf(kept)).toBe('no-memory');
  });
});

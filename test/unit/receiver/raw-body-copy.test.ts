import { describe, expect, it } from '@jest/globals';
import { createBufferPool } from '../../../src/memory/buffer-pool.js';
import { createByteBudget } from '../../../src/memory/byte-budget.js';
import type { Memory } from '../../../src/memory/part-buffer.js';
import { createRawKeeper, type RawKeeper } from '../../../src/receiver/raw-body-copy.js';

const KIB = 1024;
const LARGEST = 256 * KIB;

function memoryOf(parts: number) {
  const budget = createByteBudget({ total: parts * LARGEST, reserve: LARGEST });
  const lease = budget.lease();
  const pool = createBufferPool({ largest: LARGEST, retain: LARGEST });
  const memory: Memory = { pool, lease, take: (bytes) => lease.take(bytes) };
  return { memory, lease };
}

const bytes = (length: number, fill = 'a') => Buffer.alloc(length, fill);

async function contentOf(kept: RawKeeper): Promise<Buffer | string> {
  return kept.readBy(async (body) => Buffer.from(body));
}

describe('the keeper of raw bodies', () => {
  it('keeps all chunks in order and pays for them', async () => {
    const { memory, lease } = memoryOf(4);
    const kept = createRawKeeper(memory, 50);
    kept.keep(bytes(10, 'a'));
    expect(lease.held).toBe(10);
    kept.keep(bytes(10, 'b'));
    expect(await contentOf(kept)).toEqual(Buffer.concat([bytes(10, 'a'), bytes(10, 'b')]));
    expect(lease.held).toBe(64 * KIB);
    expect(kept.bytes).toBe(20);
  });

  it('copies chunks of single bytes together', async () => {
    const { memory, lease } = memoryOf(4);
    const kept = createRawKeeper(memory, 64 * KIB);
    for (let n = 0; n < 64 * KIB; n++) kept.keep(bytes(1, 'x'));
    expect(bytes(64 * KIB, 'x').equals((await contentOf(kept)) as Buffer)).toBe(true);
    expect(lease.held).toBe(64 * KIB);
  });

  it('puts together what is larger than any buffer, pays for that, and gives all of it back', async () => {
    const { memory, lease } = memoryOf(16);
    const kept = createRawKeeper(memory, 3 * LARGEST);
    const chunks = Array.from({ length: 10 }, (_, n) => bytes(64 * KIB, String(n)));
    for (const chunk of chunks) kept.keep(chunk);
    let paid = 0;
    const content = await kept.readBy(async (body) => {
      paid = lease.held;
      return body;
    });
    expect(Buffer.concat(chunks).equals(content as Buffer)).toBe(true);
    expect(paid).toBeGreaterThanOrEqual(2 * 640 * KIB);
    kept.release();
    expect(lease.held).toBe(0);
  });

  it('keeps the body for its reader when it is released meanwhile, and pays for it until then', async () => {
    const { memory, lease } = memoryOf(4);
    const kept = createRawKeeper(memory, 50);
    kept.keep(bytes(10));
    const content = await kept.readBy(async (body) => {
      kept.release();
      expect(lease.held).toBe(10);
      return body;
    });
    expect(content).toEqual(bytes(10));
    expect(lease.held).toBe(0);
  });

  it('lets go of everything once a body exceeds the cap', async () => {
    const { memory, lease } = memoryOf(4);
    const kept = createRawKeeper(memory, 15);
    kept.keep(bytes(10));
    kept.keep(bytes(10));
    kept.keep(bytes(1));
    expect(await contentOf(kept)).toBe('over-cap');
    expect(lease.held).toBe(0);
  });

  it('does not begin to keep a body that is declared to exceed the cap', async () => {
    const { memory, lease } = memoryOf(4);
    const kept = createRawKeeper(memory, 15, 16);
    kept.keep(bytes(10));
    expect(lease.held).toBe(0);
    expect(await contentOf(kept)).toBe('over-cap');
  });

  it('keeps a body that is declared to fit', async () => {
    const kept = createRawKeeper(memoryOf(4).memory, 15, 15);
    kept.keep(bytes(15));
    expect(await contentOf(kept)).toEqual(bytes(15));
  });

  it('says that there was no memory, and takes none', async () => {
    const { memory, lease } = memoryOf(2);
    const kept = createRawKeeper(memory, 8 * LARGEST);
    for (let n = 0; n < 32; n++) kept.keep(bytes(64 * KIB));
    expect(await contentOf(kept)).toBe('no-memory');
    expect(lease.held).toBe(0);
  });

  it('gives back what it kept when it is released', async () => {
    const { memory, lease } = memoryOf(4);
    const kept = createRawKeeper(memory, 50);
    kept.keep(bytes(10));
    kept.release();
    expect(lease.held).toBe(0);
    expect(await contentOf(kept)).toBe('no-memory');
  });
});

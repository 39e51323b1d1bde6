import { describe, expect, it } from '@jest/globals';
import { type Memory, PartBuffer } from '../../../src/archive/part-buffer.js';
import { createBufferPool } from '../../../src/store/buffer-pool.js';
import { createByteBudget } from '../../../src/store/byte-budget.js';

const KIB = 1024;
const PART = 1024 * KIB;
const CHUNK = Buffer.alloc(64 * KIB, 7);

function memory(): Memory & { held(): number } {
  const lease = createByteBudget({ total: 8 * PART, reserve: PART }).lease();
  const pool = createBufferPool({ largest: PART, retain: 4 * PART });
  return { pool, lease, take: (bytes) => lease.take(bytes), held: () => lease.held };
}

async function filled(chunks: number, expected: number) {
  const paid = memory();
  const buffer = new PartBuffer(paid, PART, expected);
  for (let n = 0; n < chunks; n++) await buffer.append(CHUNK);
  return { buffer, paid };
}

describe('a part buffer', () => {
  it('keeps a single chunk as it came and pays for just that', async () => {
    const { buffer, paid } = await filled(1, 0);
    expect(buffer.bytes()).toBe(CHUNK);
    expect(paid.held()).toBe(CHUNK.length);
  });

  it.each([
    ['of known size pays for that size at once', 2, 500 * KIB, 512 * KIB],
    ['of unknown size pays for little while it is small', 3, 0, 256 * KIB],
    ['of unknown size pays for a whole part as soon as it is not small', 5, 0, PART],
    ['that turns out larger than was said pays for a whole part', 9, 300 * KIB, PART],
    ['larger than a part pays for a part', 2, 100 * PART, PART],
  ])('%s', async (_, chunks, expected, price) => {
    expect((await filled(chunks, expected)).paid.held()).toBe(price);
  });

  it('gives back what the content did not need, and keeps the content', async () => {
    const { buffer, paid } = await filled(2, 10 * PART);
    buffer.shrink();
    expect(paid.held()).toBe(128 * KIB);
    expect(buffer.bytes().equals(Buffer.concat([CHUNK, CHUNK]))).toBe(true);
    buffer.release();
    expect(paid.held()).toBe(0);
  });
});

import { describe, expect, it } from '@jest/globals';
import { type BudgetLease, LeaseClosedError } from '../../../../src/lib/memory/budget-lease.js';
import { createBufferPool } from '../../../../src/lib/memory/buffer-pool.js';
import { ByteBudget } from '../../../../src/lib/memory/byte-budget.js';
import { type Memory, PartBuffer } from '../../../../src/lib/memory/part-buffer.js';

const KIB = 1024;
const PART = 1024 * KIB;
const CHUNK = Buffer.alloc(64 * KIB, 7);

function memory(part = PART): Memory & { held(): number; advance(ms: number): void; other: BudgetLease } {
  let time = 0;
  const budget = new ByteBudget({ total: 64 * part, reserve: part, now: () => time });
  const lease = budget.lease();
  const other = budget.lease();
  const pool = createBufferPool({ largest: part, maxBytes: 4 * part });
  const advance = (ms: number) => {
    time += ms;
  };
  return { pool, lease, waitFor: (bytes) => lease.take(bytes), held: () => lease.held, advance, other };
}

async function filled(chunks: number, expected: number) {
  const paid = memory();
  const buffer = new PartBuffer(paid, PART, expected);
  for (let n = 0; n < chunks; n++) {
    paid.lease.fillRate.received(CHUNK.length);
    await buffer.append(CHUNK);
    paid.lease.fillRate.awaitSender();
  }
  return { buffer, paid };
}

describe('a part buffer', () => {
  it('keeps a single chunk as it came and pays for just that', async () => {
    const { buffer, paid } = await filled(1, 0);
    expect(buffer.bytes()).toBe(CHUNK);
    expect(paid.held()).toBe(CHUNK.length);
  });

  it('keeps no memory alive that it does not pay for', async () => {
    const { lease, pool, waitFor } = memory();
    const buffer = new PartBuffer({ lease, pool, waitFor }, PART, 0);
    await buffer.append(CHUNK.subarray(0, 10));
    expect(buffer.bytes()).toEqual(CHUNK.subarray(0, 10));
    expect([buffer.bytes().buffer.byteLength, lease.held]).toEqual([10, 10]);
  });

  it('keeps a callback as it came in one read with its head', async () => {
    const { lease, pool, waitFor } = memory();
    const buffer = new PartBuffer({ lease, pool, waitFor }, PART, 0);
    const read = Buffer.alloc(1500);
    await buffer.append(read.subarray(1200));
    expect(buffer.bytes().buffer).toBe(read.buffer);
  });

  it.each([
    ['that is small pays for the size that was announced', 2, 250 * KIB, 256 * KIB],
    ['of unknown size pays for little while it is small', 3, 0, 256 * KIB],
    ['pays in growing steps, whatever was announced', 5, 100 * PART, 1024 * KIB],
    ['never pays for more than was announced', 5, 400 * KIB, 512 * KIB],
    ['of unknown size pays in growing steps', 5, 0, 1024 * KIB],
  ])('%s', async (_, chunks, expected, price) => {
    expect((await filled(chunks, expected)).paid.held()).toBe(price);
  });

  it('grows by what its sender sends in two seconds', async () => {
    const paid = memory();
    const buffer = new PartBuffer(paid, PART, 0);
    for (let n = 0; n < 5; n++) {
      paid.advance(1000);
      paid.lease.fillRate.received(CHUNK.length);
      await buffer.append(CHUNK);
      paid.lease.fillRate.awaitSender();
    }
    expect(paid.held()).toBe(512 * KIB);
  });

  it('costs what was paid for it, also when the delivery handed other memory on while it waited', async () => {
    const paid = memory(8 * PART);
    const waitFor = (bytes: number): Promise<void> => {
      // What it can have now is more than it asked for: its sender has shown its speed.
      paid.lease.fillRate.flushed();
      paid.other.close();
      return paid.lease.take(bytes);
    };
    const buffer = new PartBuffer({ ...paid, waitFor }, 8 * PART, 0);
    for (let n = 0; n < 5; n++) {
      if (n === 4) while (paid.other.tryTake(KIB));
      paid.lease.fillRate.received(CHUNK.length);
      await buffer.append(CHUNK);
      paid.lease.fillRate.awaitSender();
    }
    expect(paid.held()).toBe(PART);
    buffer.release();
    expect(paid.held()).toBe(0);
  });

  it('returns outgrown buffers to the pool', async () => {
    const { buffer, paid } = await filled(5, 0);
    const { allocated } = paid.pool;
    expect(allocated).toBeGreaterThan(paid.held());
    for (const size of [128 * KIB, 256 * KIB]) paid.pool.take(size);
    expect(paid.pool.allocated).toBe(allocated);
    buffer.release();
  });

  it('takes a chunk at once when its memory is there, and changes nothing when it is not', async () => {
    const budget = new ByteBudget({ total: 2 * PART, reserve: PART });
    const lease = budget.lease();
    const other = budget.lease();
    const pool = createBufferPool({ largest: PART, maxBytes: PART });
    const buffer = new PartBuffer({ pool, lease, waitFor: (bytes) => lease.take(bytes) }, PART, 0);
    expect(buffer.bytes()).toHaveLength(0);
    expect([buffer.tryAppend(CHUNK), buffer.tryAppend(Buffer.from('x'))]).toEqual([true, true]);
    expect([buffer.length, buffer.room]).toEqual([CHUNK.length + 1, PART - CHUNK.length - 1]);
    while (other.tryTake(KIB)) {
      // spends the common pool
    }
    const before = Buffer.from(buffer.bytes());
    expect(buffer.tryAppend(Buffer.alloc(128 * KIB))).toBe(false);
    expect(buffer.bytes().equals(before)).toBe(true);
    expect(buffer.tryAppend(Buffer.from('y'))).toBe(true);
    expect(buffer.bytes().equals(Buffer.concat([before, Buffer.from('y')]))).toBe(true);
  });

  it('shows a reader the bytes that were there when it began to read', async () => {
    const { buffer } = await filled(3, 0);
    const held = buffer.hold();
    buffer.release();
    expect(held.bytes).toHaveLength(3 * CHUNK.length);
    held.release();
  });

  it('reuses and returns nothing that a reader still holds', async () => {
    const { buffer, paid } = await filled(3, 0);
    const { buffer: memory } = buffer.bytes();
    const held = buffer.hold();
    buffer.release();
    expect(paid.pool.take(3 * CHUNK.length).buffer).not.toBe(memory);
    expect(paid.held()).toBe(256 * KIB);
    held.release();
    expect(paid.pool.take(3 * CHUNK.length).buffer).toBe(memory);
    expect(paid.held()).toBe(0);
  });

  it('refuses to show or release what every holder has released', async () => {
    const { buffer } = await filled(1, 0);
    const held = buffer.hold();
    buffer.release();
    held.release();
    expect(() => held.bytes).toThrow('after its release');
    expect(() => held.release()).toThrow('more often');
  });

  it('pays for just its bytes when it ends tiny', async () => {
    const paid = memory();
    const buffer = new PartBuffer(paid, PART, 0);
    for (let n = 0; n < 100; n++) await buffer.append(Buffer.from('x'));
    expect(paid.held()).toBe(64 * KIB);
    buffer.shrink();
    expect(paid.held()).toBe(100);
    expect(buffer.bytes().toString()).toBe('x'.repeat(100));
    buffer.release();
    expect(paid.held()).toBe(0);
  });

  it('gives back what it waited for when it was released meanwhile', async () => {
    const budget = new ByteBudget({ total: 2 * PART, reserve: PART });
    const hog = budget.lease();
    const lease = budget.lease();
    await hog.take(PART);
    await hog.take(PART);
    const pool = createBufferPool({ largest: PART, maxBytes: PART });
    const buffer = new PartBuffer({ pool, lease, waitFor: (bytes) => lease.take(bytes) }, PART, 0);
    const waiting = expect(buffer.append(CHUNK)).rejects.toBeInstanceOf(LeaseClosedError);
    hog.give(2 * PART);
    buffer.release();
    await waiting;
    expect(budget.used).toBe(0);
  });

  it('gives back what the content did not need, and keeps the content', async () => {
    const { buffer, paid } = await filled(4, 10 * PART);
    await buffer.append(Buffer.from('.'));
    buffer.shrink();
    expect(paid.held()).toBe(512 * KIB);
    expect(buffer.bytes().equals(Buffer.concat([CHUNK, CHUNK, CHUNK, CHUNK, Buffer.from('.')]))).toBe(true);
    buffer.release();
    expect(paid.held()).toBe(0);
  });
});

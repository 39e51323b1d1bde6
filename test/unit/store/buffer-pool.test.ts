import { describe, expect, it } from '@jest/globals';
import { createBufferPool } from '../../../src/store/buffer-pool.js';

const KB = 1024;

describe('the pool of buffers', () => {
  it('rounds sizes up to powers of two, from 64 KiB to the largest', () => {
    const pool = createBufferPool({ largest: 300 * KB, retain: 0 });
    expect([1, 64 * KB, 65 * KB, 200 * KB, 300 * KB].map((size) => pool.sizeFor(size) / KB)).toEqual([
      64, 64, 128, 256, 300,
    ]);
    expect(() => pool.take(301 * KB)).toThrow(RangeError);
  });

  it('hands out again what came back', () => {
    const pool = createBufferPool({ largest: 256 * KB, retain: 256 * KB });
    const first = pool.take(100 * KB);
    pool.give(first);
    expect(pool.take(128 * KB)).toBe(first);
  });

  it('counts what it allocated, in use or kept, and forgets what it does not keep', () => {
    const pool = createBufferPool({ largest: 256 * KB, retain: 128 * KB });
    const buffers = [pool.take(128 * KB), pool.take(128 * KB)];
    expect(pool.allocated).toBe(256 * KB);
    for (const buffer of buffers) pool.give(buffer);
    expect(pool.allocated).toBe(128 * KB);
    pool.take(128 * KB);
    expect(pool.allocated).toBe(128 * KB);
  });

  it('copies chunks in and tells of their size', () => {
    const told: number[] = [];
    const pool = createBufferPool({ largest: 256 * KB, retain: 0, onFilled: (bytes) => told.push(bytes) });
    const buffer = pool.take(10);
    pool.fill(buffer, 0, Buffer.from('abc'));
    pool.fill(buffer, 3, Buffer.from('de'));
    expect(buffer.toString('latin1', 0, 5)).toBe('abcde');
    expect(told).toEqual([3, 2]);
  });
});

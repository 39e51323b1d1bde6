import { describe, expect, it } from '@jest/globals';
import { createBufferPool } from '../../../../src/lib/memory/buffer-pool.js';

const KB = 1024;

describe('the pool of buffers', () => {
  it('rounds sizes up to powers of two, from 64 KiB to the largest', () => {
    const pool = createBufferPool({ largest: 300 * KB, maxBytes: 0 });
    expect([1, 64 * KB, 65 * KB, 200 * KB, 300 * KB].map((size) => pool.sizeFor(size) / KB)).toEqual([
      64, 64, 128, 256, 300,
    ]);
    expect(() => pool.take(301 * KB)).toThrow(RangeError);
  });

  it('reuses buffers that were given back', () => {
    const pool = createBufferPool({ largest: 256 * KB, maxBytes: 256 * KB });
    const first = pool.take(100 * KB);
    expect(pool.take(100 * KB)).not.toBe(first);
    pool.giveBack(first);
    expect(pool.take(128 * KB)).toBe(first);
  });

  it('keeps what is given back, again and again', () => {
    const pool = createBufferPool({ largest: 128 * KB, maxBytes: 256 * KB });
    for (let round = 0; round < 3; round++) {
      const pair = [pool.take(128 * KB), pool.take(128 * KB)];
      for (const buffer of pair) pool.giveBack(buffer);
      expect(pool.allocated).toBe(256 * KB);
    }
  });

  it('keeps no more than fits beside those in use, whatever their sizes', () => {
    const pool = createBufferPool({ largest: 256 * KB, maxBytes: 256 * KB });
    const small = [64, 64, 128].map((size) => pool.take(size * KB));
    for (const buffer of small) pool.giveBack(buffer);
    expect(pool.allocated).toBe(256 * KB);
    const large = pool.take(256 * KB);
    expect(pool.allocated).toBe(256 * KB);
    pool.giveBack(large);
    pool.take(64 * KB);
    expect(pool.allocated).toBe(64 * KB);
  });

  it('copies chunks in and reports their size', () => {
    const reported: number[] = [];
    const pool = createBufferPool({
      largest: 256 * KB,
      maxBytes: 0,
      onFilled: (bytes) => reported.push(bytes),
    });
    const bytes = pool.take(10);
    pool.fill(bytes, 0, Buffer.from('abc'));
    pool.fill(bytes, 3, Buffer.from('de'));
    expect(bytes.toString('latin1', 0, 5)).toBe('abcde');
    expect(reported).toEqual([3, 2]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { createBufferPool } from '../../../../src/lib/memory/buffer-pool.js';

const KB = 1024;

const noMatter = () => {};

describe('the pool of buffers', () => {
  it('rounds sizes up to powers of two, from 64 KiB to the largest', () => {
    const pool = createBufferPool({ largest: 300 * KB, most: 0 });
    expect([1, 64 * KB, 65 * KB, 200 * KB, 300 * KB].map((size) => pool.sizeFor(size) / KB)).toEqual([
      64, 64, 128, 256, 300,
    ]);
    expect(() => pool.take(301 * KB, noMatter)).toThrow(RangeError);
  });

  it('reuses released buffers', () => {
    const pool = createBufferPool({ largest: 256 * KB, most: 256 * KB });
    const first = pool.take(100 * KB, noMatter);
    const { bytes } = first;
    first.release();
    expect(pool.take(128 * KB, noMatter).bytes).toBe(bytes);
  });

  it('keeps what is released, again and again', () => {
    const pool = createBufferPool({ largest: 128 * KB, most: 256 * KB });
    for (let round = 0; round < 3; round++) {
      const pair = [pool.take(128 * KB, noMatter), pool.take(128 * KB, noMatter)];
      for (const buffer of pair) buffer.release();
      expect(pool.allocated).toBe(256 * KB);
    }
  });

  it('hands out nothing that a reader still holds, and says when it is free', () => {
    const pool = createBufferPool({ largest: 256 * KB, most: 256 * KB });
    let freed = 0;
    const first = pool.take(100 * KB, () => (freed += 1));
    const { bytes } = first;
    const reader = first.hold(10);
    first.release();
    expect(freed).toBe(0);
    expect(pool.take(100 * KB, noMatter).bytes).not.toBe(bytes);
    reader.release();
    expect(freed).toBe(1);
    expect(pool.take(100 * KB, noMatter).bytes).toBe(bytes);
  });

  it('refuses to show, hold or release a buffer that is free', () => {
    const buffer = createBufferPool({ largest: 256 * KB, most: 0 }).take(1, noMatter);
    buffer.release();
    expect(() => buffer.bytes).toThrow('after its release');
    expect(() => buffer.hold(1)).toThrow('after its release');
    expect(() => buffer.release()).toThrow('more often');
  });

  it('keeps no more than fits beside those in use, whatever their sizes', () => {
    const pool = createBufferPool({ largest: 256 * KB, most: 256 * KB });
    const small = [64, 64, 128].map((size) => pool.take(size * KB, noMatter));
    for (const buffer of small) buffer.release();
    expect(pool.allocated).toBe(256 * KB);
    const large = pool.take(256 * KB, noMatter);
    expect(pool.allocated).toBe(256 * KB);
    large.release();
    pool.take(64 * KB, noMatter);
    expect(pool.allocated).toBe(64 * KB);
  });

  it('copies chunks in and reports their size', () => {
    const reported: number[] = [];
    const pool = createBufferPool({
      largest: 256 * KB,
      most: 0,
      onFilled: (bytes) => reported.push(bytes),
    });
    const { bytes } = pool.take(10, noMatter);
    pool.fill(bytes, 0, Buffer.from('abc'));
    pool.fill(bytes, 3, Buffer.from('de'));
    expect(bytes.toString('latin1', 0, 5)).toBe('abcde');
    expect(reported).toEqual([3, 2]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { createByteGate } from '../../../../../src/operations/actions/copy/byte-gate.js';

describe('a gate of bytes', () => {
  it('never lets in more than there is room for, and everything in its turn', async () => {
    const gate = createByteGate(100);
    const order: number[] = [];
    let held = 0;
    let most = 0;
    const sizes = [60, 60, 10, 500, 0, 100, 40, 40, 40];
    await Promise.all(
      sizes.map((bytes, index) =>
        gate(bytes, async () => {
          order.push(index);
          held += Math.min(bytes, 100);
          most = Math.max(most, held);
          await new Promise((resolve) => setImmediate(resolve));
          held -= Math.min(bytes, 100);
        }),
      ),
    );
    expect(order).toEqual(sizes.map((_, index) => index));
    expect(most).toBe(100);
  });

  it('gives back what failed work held', async () => {
    const gate = createByteGate(10);
    await expect(gate(10, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await gate(10, async () => 'in')).toBe('in');
  });
});

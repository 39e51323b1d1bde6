import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { limitPerTurn } from '../../../src/http/limit-per-turn.js';

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

describe('limitPerTurn', () => {
  it('runs callbacks immediately below the limit', () => {
    const done: number[] = [];
    const inTurn = limitPerTurn(3);
    for (const n of numbers(3)) inTurn(() => done.push(n));
    expect(done).toEqual([0, 1, 2]);
  });

  it('defers callbacks beyond the limit, a bounded number per turn, in order', async () => {
    const done: number[] = [];
    const inTurn = limitPerTurn(3);
    for (const n of numbers(8)) inTurn(() => done.push(n));
    const seen = [done.length];
    for (let turn = 0; turn < 3; turn++) {
      await nextTurn();
      seen.push(done.length);
    }
    expect(seen).toEqual([3, 6, 8, 8]);
    expect(done).toEqual(numbers(8));
  });

  it('runs no callback before those that wait', async () => {
    const done: string[] = [];
    const inTurn = limitPerTurn(1);
    inTurn(() => done.push('first'));
    inTurn(() => done.push('second'));
    await nextTurn();
    inTurn(() => done.push('third'));
    expect(done).toEqual(['first', 'second']);
    await nextTurn();
    expect(done).toEqual(['first', 'second', 'third']);
  });

  it('runs callbacks immediately again after a turn', async () => {
    const done: string[] = [];
    const inTurn = limitPerTurn(1);
    inTurn(() => done.push('first'));
    await nextTurn();
    inTurn(() => done.push('second'));
    expect(done).toEqual(['first', 'second']);
  });

  it('queues at most 256 callbacks', async () => {
    let done = 0;
    const inTurn = limitPerTurn(3);
    for (let n = 0; n < 1000; n++) inTurn(() => (done += 1));
    expect(done).toBe(1000 - 256);
    for (let turn = 0; turn < 100; turn++) await nextTurn();
    expect(done).toBe(1000);
  });
});

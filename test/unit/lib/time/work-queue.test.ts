import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { createWorkQueue } from '../../../../src/lib/time/work-queue.js';

it('a work queue does pieces that arrive together one after the other, with a pause before each', async () => {
  const paused: (() => void)[] = [];
  const run = createWorkQueue(() => new Promise((resolve) => paused.push(resolve)));
  const done: number[] = [];
  const all = Promise.all([1, 2, 3].map((piece) => run(() => done.push(piece))));
  for (const piece of [1, 2, 3]) {
    await turn();
    expect(paused).toHaveLength(piece);
    expect(done).toHaveLength(piece - 1);
    paused.at(-1)?.();
  }
  await all;
  expect(done).toEqual([1, 2, 3]);
});

import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { TurnQueue } from '../../../../src/lib/http/joining-request.js';

it('runs one in each turn of the event loop, in the order of their arrival, also those that are added meanwhile', async () => {
  const queue = new TurnQueue();
  const ran: string[] = [];
  queue.add(() => {
    ran.push('a');
    queue.add(() => ran.push('c'));
  });
  queue.add(() => ran.push('b'));
  const counts: number[] = [];
  for (let n = 0; n < 4; n += 1) {
    await turn();
    counts.push(ran.length);
  }
  expect(counts).toEqual([1, 2, 3, 3]);
  queue.add(() => ran.push('d'));
  await turn();
  expect(ran).toEqual(['a', 'b', 'c', 'd']);
});

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from '@jest/globals';

const WORKER = `${process.cwd()}/test/support/store/list-in-little-memory.mjs`;

it('counts and lists of 200,000 dead events need no memory for each', async () => {
  // 200,000 entries of a Map take more than this.
  const worker = new Worker(WORKER, { resourceLimits: { maxOldGenerationSizeMb: 24 } });
  const [seen] = await once(worker, 'message');
  // Those that ask at the same time share a count.
  expect([seen.counts, seen.callsOfCounts]).toEqual([Array(3).fill([['intake', 200_000]]), 1]);
  expect(seen.dead).toEqual([['intake', 200_000]]);
  expect(seen.deadPage).toMatchObject({ deadEvents: [], nextCursor: expect.any(String) });
});

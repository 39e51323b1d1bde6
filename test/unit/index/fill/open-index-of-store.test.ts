import { expect, it } from '@jest/globals';
import { openIndexOfStore } from '../../../../src/index/fill/open-index-of-store.js';
import type { IndexWorker } from '../../../../src/index/start-index-worker.js';
import { indexInProcess } from '../../../support/ledger/index-in-process.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

it('starts one worker in the place of one that ended, however many ask meanwhile', async () => {
  const workers: IndexWorker[] = [];
  const index = openIndexOfStore({
    ...{ store: createMemoryStore(), filesFor: () => ({ path: null }), clock: () => Date.now() },
    ...{ reach: 1, retention: 1, maxBytes: 2 ** 30 },
    async startIndex(files, storeId) {
      const worker = await indexInProcess(files, storeId);
      workers.push(worker);
      return worker;
    },
  });
  await index.call('state');
  await workers[0]?.close();
  await Promise.all([index.call('state'), index.call('state'), index.call('state')]);
  expect(workers).toHaveLength(2);
  await index.close();
});

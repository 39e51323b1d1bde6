import { expect, it } from '@jest/globals';
import { type IndexWorker, openIndexOfStore } from '../../../../src/index/fill/open-index-of-store.js';
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

it('opens the index of a store once when that is marked, however many ask meanwhile, and reports no place before', async () => {
  let id: string | null = null;
  let started = 0;
  const places: (string | null)[] = [];
  const index = openIndexOfStore({
    store: { ...createMemoryStore(), identity: async () => id },
    ...{ filesFor: () => ({ path: null }), clock: () => Date.now() },
    ...{ reach: 1, retention: 1, maxBytes: 2 ** 30 },
    startIndex(files, storeId) {
      started += 1;
      return indexInProcess(files, storeId);
    },
    onOpened: (place) => void places.push(place.cause),
  });
  await index.opened();
  expect(places).toEqual([]);
  id = 'store';
  await Promise.all([index.opened(), index.fill(), index.opened()]);
  expect(started).toBe(2);
  expect(places).toEqual(['no-folder']);
  await index.close();
});

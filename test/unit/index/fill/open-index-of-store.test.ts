import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { fillAll } from '../../../../src/index/fill/index-filler.js';
import { indexInThread } from '../../../../src/index/fill/index-in-thread.js';
import { type IndexWorker, openIndexOfStore } from '../../../../src/index/fill/open-index-of-store.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { until } from '../../../support/until.js';

it('starts one worker in the place of one that ended, however many ask meanwhile', async () => {
  const workers: IndexWorker[] = [];
  const index = openIndexOfStore({
    store: createMemoryStore(),
    filesFor: () => ({ path: null }),
    clock: () => Date.now(),
    reach: 1,
    retention: 1,
    maxBytes: 2 ** 30,
    async startIndex(files, storeId) {
      const worker = await indexInThread(files, storeId);
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
    filesFor: () => ({ path: null }),
    clock: () => Date.now(),
    reach: 1,
    retention: 1,
    maxBytes: 2 ** 30,
    startIndex(files, storeId) {
      started += 1;
      return indexInThread(files, storeId);
    },
    onOpened: (place) => void places.push(place.cause),
  });
  await index.opened();
  expect(places).toEqual([]);
  id = 'store';
  await Promise.all([index.opened(), fillAll(index), index.opened()]);
  expect(started).toBe(2);
  expect(places).toEqual(['no-folder']);
  await index.close();
});

describe('a question that takes long', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  /** @param asked called with the questions of the worker that only reads */
  function openIndex(asked: (name: string) => Promise<void>) {
    const workers: IndexWorker[] = [];
    const index = openIndexOfStore({
      store: { ...createMemoryStore(), identity: async () => 'store' },
      filesFor: () => ({ path: join(folder.path, 'index.sqlite') }),
      clock: () => Date.now(),
      reach: 1,
      retention: 1,
      maxBytes: 2 ** 30,
      async startIndex(files, storeId) {
        const worker = await indexInThread(files, storeId);
        workers.push(worker);
        if (!worker.isShared) return worker;
        return {
          ...worker,
          async call(name, ...values) {
            await asked(name);
            return worker.call(name, ...values);
          },
        };
      },
    });
    return { index, workers };
  }

  it('is answered by a worker of its own, which reads the same file and ends, so that no other question waits', async () => {
    let answer = () => {};
    const { index, workers } = openIndex(() => new Promise<void>((resolve) => (answer = resolve)));
    const asked = index.callInOwnWorker(undefined, 'countLines');
    await until(async () => workers.length === 2);
    expect(await index.call('countLines')).toBe(0);
    answer();
    expect(await asked).toBe(0);
    expect(workers.map((worker) => [worker.isShared, worker.isEnded()])).toEqual([
      [false, false],
      [true, true],
    ]);
    await index.close();
  });

  it('ends with its worker when it is aborted', async () => {
    const aborting = new AbortController();
    const { index, workers } = openIndex(async () => {
      aborting.abort(new Error('the client has gone'));
      expect(workers[1]?.isEnded()).toBe(true);
      throw new Error('the worker ended');
    });
    await expect(index.callInOwnWorker(aborting.signal, 'countLines')).rejects.toThrow('the client has gone');
    await index.close();
  });
});

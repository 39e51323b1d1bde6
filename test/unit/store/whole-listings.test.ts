import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { ObjectStore } from '../../../src/store/object-store.js';
import { assertLists, wholeListings } from '../../../src/store/whole-listings.js';
import { createMemoryStore, type MemoryStore } from '../../support/store/memory-store.js';
import { partialListings } from '../../support/store/partial-listings.js';

const NOT_WHOLE = /is not whole: it lacks ledger\/dt=2026-03-04\/hour=05\/r~00000002.ndjson/;

describe('a listing of what is known to be there', () => {
  let memory: MemoryStore;
  let store: ObjectStore;
  let known: string[];
  let leftOut: (key: string) => boolean;

  const segment = (number: number) => `ledger/dt=2026-03-04/hour=05/r~0000000${number}.ndjson`;

  beforeEach(async () => {
    memory = createMemoryStore();
    leftOut = () => false;
    known = [segment(2)];
    store = wholeListings(
      partialListings(memory, (key) => leftOut(key)),
      () => known,
    );
    for (const number of [1, 2]) memory.put(segment(number), 'x');
  });

  it.each<[string, (key: string) => boolean]>([
    ['empty', () => true],
    ['without the last', (key) => key.includes(segment(2))],
  ])('fails when it is %s', async (_, isLeftOut) => {
    leftOut = isLeftOut;
    await expect(Array.fromAsync(store.list('ledger/'))).rejects.toThrow(NOT_WHOLE);
    await expect(Array.fromAsync(store.keys('ledger/dt=2026-03-04/'))).rejects.toThrow(NOT_WHOLE);
    await expect(Array.fromAsync(store.list('ledger/', { startAfter: segment(1) }))).rejects.toThrow(
      NOT_WHOLE,
    );
  });

  it('fails when a folder is missing', async () => {
    leftOut = () => true;
    await expect(Array.fromAsync(store.folders('ledger/'))).rejects.toThrow(NOT_WHOLE);
    await expect(Array.fromAsync(store.folders('ledger/dt=2026-03-04/'))).rejects.toThrow(NOT_WHOLE);
    expect(await Array.fromAsync(store.folders('jobs/'))).toEqual([]);
  });

  it('brings all that it has before it fails', async () => {
    leftOut = (key) => key === segment(2);
    const found: string[] = [];
    const reading = async () => {
      for await (const { key } of store.list('ledger/')) found.push(key);
    };
    await expect(reading()).rejects.toThrow(NOT_WHOLE);
    expect(found).toEqual([segment(1)]);
  });

  it('is whole without what was deleted or lies elsewhere', async () => {
    memory.objects.delete(segment(2));
    expect(await Array.fromAsync(store.keys('ledger/'))).toEqual([segment(1)]);
    leftOut = () => true;
    expect(await Array.fromAsync(store.list('reports/'))).toEqual([]);
    expect(await Array.fromAsync(store.list('ledger/', { startAfter: segment(2) }))).toEqual([]);
    expect(await Array.fromAsync(store.keys('ledger/', { direct: true }))).toEqual([]);
  });

  it('may end before at a limit, and leave out what is hidden', async () => {
    expect(await Array.fromAsync(store.keys('ledger/', { limit: 1 }))).toEqual([segment(1)]);
    memory.put('.canary/a', 'x');
    known.push('.canary/a');
    leftOut = (key) => key.startsWith('.');
    expect(await Array.fromAsync(store.keys(''))).toEqual([segment(1), segment(2)]);
  });

  it('costs no request', async () => {
    const before = memory.calls.length;
    await Array.fromAsync(store.list('ledger/'));
    await Array.fromAsync(store.folders('ledger/'));
    expect(memory.calls.slice(before).map(({ operation }) => operation)).toEqual(['list', 'folders']);
  });
});

it('a bucket that lists nothing is no bucket without objects, also when it answers late', async () => {
  jest.useFakeTimers();
  try {
    const late = <T>(value: T) => new Promise<T>((resolve) => setTimeout(() => resolve(value), 9_000));
    const asserted = assertLists({
      location: 's3://bucket',
      async *keys() {
        yield* await late<string[]>([]);
      },
      identity: async () => 'the-one',
    });
    const refused = expect(asserted).rejects.toThrow(/is not whole: it lacks \.store\/marker\.json/);
    await jest.advanceTimersByTimeAsync(9_000);
    await refused;
  } finally {
    jest.useRealTimers();
  }
});

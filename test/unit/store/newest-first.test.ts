import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { encodeTime } from 'ulid';
import { forgetNewest, type NewestOptions, newestIds } from '../../../src/store/newest-first.js';
import { createMemoryStore } from '../../support/store/memory-store.js';

const FOLDER = 'things/';
const NOW = Date.now();

async function newest(
  store: ReturnType<typeof createMemoryStore>,
  options: NewestOptions = { maxAge: 0 },
): Promise<string[]> {
  const ids: string[] = [];
  for await (const id of newestIds(store, FOLDER, options)) ids.push(id);
  return ids;
}

/** The ids of the documents of a store, newest first. */
function idsIn(store: ReturnType<typeof createMemoryStore>): string[] {
  const ids = [...store.objects.keys()].map((key) => /^things\/([^/]{26})\.json$/.exec(key)?.[1] ?? '');
  return ids
    .filter((id) => id !== '')
    .sort()
    .reverse();
}

function put(store: ReturnType<typeof createMemoryStore>, id: string): void {
  store.put(`${FOLDER}${id}.json`, '');
}

function idOf(time: number, n: number): string {
  return `${encodeTime(time, 10)}${String(n).padStart(16, '0')}`;
}

/** Bursts of ids: when, how many, and over which time. */
const bursts = fc.array(
  fc.record({
    // The clock of another replica may be ahead.
    age: fc.oneof(fc.integer({ min: -300_000, max: 600_000 }), fc.integer({ min: 0, max: 400 * 86_400_000 })),
    count: fc.integer({ min: 1, max: 400 }),
    over: fc.constantFrom(0, 1000, 3_600_000),
  }),
  { minLength: 1, maxLength: 5 },
);

describe('the newest of a folder', () => {
  it('are all that a listing has, in the opposite order, whenever they came', async () => {
    await fc.assert(
      fc.asyncProperty(bursts, fc.integer({ min: 1, max: 9 }), async (given, tenths) => {
        const store = createMemoryStore();
        store.put('other/01K00000000000000000000000', '');
        store.put('things/no-id.json', '');
        store.put(`things/${idOf(NOW, 0)}/items.json`, '');
        for (const [index, { age, count, over }] of given.entries())
          for (let n = 0; n < count; n += 1)
            put(store, idOf(NOW - age + Math.floor((over * n) / count), index * 10_000 + n));
        const all = idsIn(store);
        expect(await newest(store)).toEqual(all);
        expect(await newest(store, { maxAge: 3_600_000 })).toEqual(all);
        const before = all[Math.floor((all.length * tenths) / 10)] ?? '';
        expect(await newest(store, { before })).toEqual(all.filter((each) => each < before));
      }),
      { numRuns: 30 },
    );
  }, 120_000);

  it('are found without what their folders hold', async () => {
    const store = createMemoryStore();
    const ranges: unknown[] = [];
    const keys: typeof store.keys = (prefix, range) => {
      ranges.push(range?.direct);
      return store.keys(prefix, range);
    };
    for (let n = 0; n < 1000; n += 1) {
      put(store, idOf(NOW - n * 1000, n));
      store.put(`${FOLDER}${idOf(NOW - n * 1000, n)}/items.json`, '');
    }
    expect(await newest({ ...store, keys })).toEqual(idsIn(store));
    expect(new Set(ranges)).toEqual(new Set([true]));
  });

  it.each([
    ['over a month', 30 * 86_400_000],
    ['within a minute, a year ago', 60_000, 365 * 86_400_000],
    ['within a second, just now', 1000],
  ])('are found with a few calls of one answer each: 50,000 %s', async (_, over, age = 0) => {
    const store = createMemoryStore();
    for (let n = 0; n < 50_000; n += 1) put(store, idOf(NOW - age - Math.floor((over * n) / 50_000), n));
    const limits: unknown[] = [];
    const counted = {
      keys: (prefix: string, range: Parameters<typeof store.keys>[1]) => {
        limits.push(range?.limit);
        return store.keys(prefix, range);
      },
    };
    let found = 0;
    for await (const _ of newestIds(counted, FOLDER)) if (++found === 50) break;
    expect(found).toBe(50);
    expect(limits.length).toBeLessThanOrEqual(40);
    expect(new Set(limits)).toEqual(new Set([250]));
  });

  it('cost one call again, once it is known how dense they are, and none is missed when most are gone', async () => {
    const store = createMemoryStore();
    for (let n = 0; n < 5000; n += 1) put(store, idOf(NOW - n * 1000, n));
    const first = async () => {
      store.calls.length = 0;
      let found = 0;
      for await (const _ of newestIds(store, FOLDER, { maxAge: 0 })) if (++found === 50) break;
      return store.calls.length;
    };
    expect(await first()).toBeGreaterThan(1);
    expect(await first()).toBe(1);
    for (const key of [...store.objects.keys()].slice(0, 4990)) await store.delete(key);
    put(store, idOf(NOW - 900 * 86_400_000, 0));
    expect(await newest(store)).toEqual(idsIn(store));
  });

  it('are those of an earlier search for as long as that is good, where they are many', async () => {
    const store = createMemoryStore();
    for (let n = 0; n < 5000; n += 1) put(store, idOf(NOW - n * 1000, n));
    const before = await newest(store);
    store.calls.length = 0;
    const later = idOf(NOW + 1, 0);
    put(store, later);
    let found = 0;
    for await (const _ of newestIds(store, FOLDER, { maxAge: 3_600_000 })) if (++found === 50) break;
    expect(store.calls).toEqual([]);
    expect(await newest(store, { maxAge: 3_600_000 })).toEqual(before);
    expect(await newest(store)).toEqual([later, ...before]);
  });

  it('are searched again once one was added here, also beside a search that listed before', async () => {
    const memory = createMemoryStore();
    for (let n = 0; n < 5000; n += 1) put(memory, idOf(NOW - n * 1000, n));
    const before = idsIn(memory);
    const later = idOf(NOW + 1, 0);
    let onListed = () => {};
    const store = {
      ...memory,
      async *keys(...asked: Parameters<typeof memory.keys>) {
        for await (const key of memory.keys(...asked)) yield key;
        onListed();
      },
    };
    expect(await newest(store)).toEqual(before);
    onListed = () => {
      put(memory, later);
      forgetNewest(store, FOLDER);
    };
    for await (const _ of newestIds(store, FOLDER, { maxAge: 0 })) break;
    onListed = () => {};
    expect(await newest(store, { maxAge: 3_600_000 })).toEqual([later, ...before]);
  });

  it('cost one call where they are few', async () => {
    const store = createMemoryStore();
    for (let n = 0; n < 249; n += 1) put(store, idOf(NOW - n * 86_400_000, n));
    expect(await newest(store)).toHaveLength(249);
    expect(store.calls).toHaveLength(1);
  });
});

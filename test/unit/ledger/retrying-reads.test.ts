import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { retryingReads, UnreadableError } from '../../../src/ledger/retrying-reads.js';
import { type ObjectStore, PartialListingError, StoreError } from '../../../src/store/object-store.js';
import { createMemoryStore } from '../../support/store/memory-store.js';

/** A store with one object, whose reads fail as many times as the test says; `answers` is what it does when asked for its identity. */
function failing(
  times: number,
  fail: (store: ObjectStore) => ReturnType<ObjectStore['read']>,
  answers = true,
) {
  const store = createMemoryStore();
  store.put('ledger/one', 'text');
  let reads = 0;
  const over = retryingReads(
    {
      ...store,
      read: (key, ...args) => {
        reads += 1;
        return reads > times ? store.read(key, ...args) : fail(store);
      },
      identity: async () => {
        if (!answers) throw new StoreError('read', 'connection refused');
        return 'store';
      },
    },
    [0, 0],
  );
  return { reads: () => reads, read: () => over.read('ledger/one') };
}

const denied = () => Promise.reject(new StoreError('read', 'access denied', { condition: 'denied' }));
/** Its body breaks off. */
const cut = async (store: ObjectStore) => {
  const reading = await store.read('ledger/one');
  const body = Readable.from(
    (async function* () {
      yield Buffer.from('te');
      throw new StoreError('read', 'EIO');
    })(),
  );
  return reading && { ...reading, body };
};

describe('reads that are tried again', () => {
  it.each([
    ['rejects', denied],
    ['breaks off', cut],
  ])('bring the object where one attempt or two of them %s', async (_, fail) => {
    for (const times of [1, 2]) {
      const reading = await failing(times, fail).read();
      expect(String(await buffer((reading as NonNullable<typeof reading>).body))).toBe('text');
      expect(String(reading?.bytes)).toBe('text');
    }
  });

  it.each([
    ['rejects', denied],
    ['breaks off', cut],
  ])('end in an error of the object alone where each attempt %s and the store answers', async (_, fail) => {
    const { read, reads } = failing(9, fail);
    const error = await read().catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(UnreadableError);
    expect(error).toMatchObject({ condition: null, message: expect.stringContaining('ledger/one') });
    expect(reads()).toBe(3);
  });

  it('reject at once where the store does not answer', async () => {
    const { read, reads } = failing(1, denied, false);
    await expect(read()).rejects.not.toBeInstanceOf(UnreadableError);
    expect(reads()).toBe(1);
  });

  it('bring null for an object that is missing', async () => {
    expect(await retryingReads(createMemoryStore()).read('ledger/none')).toBeNull();
  });
});

describe('listings that are tried again', () => {
  const HOUR_FOLDER = 'ledger/dt=2026-03-04/hour=05/';

  /** A store whose listings fail, each before an item, as many times as the test says for their prefix. */
  function unlisted(
    failures: Record<string, number>,
    at = 0,
    error = new StoreError('list', 'access denied', { condition: 'denied' }),
  ) {
    const store = createMemoryStore();
    for (const name of ['a', 'b']) store.put(HOUR_FOLDER + name, 'text');
    async function* failing<Item>(prefix: string, items: AsyncIterable<Item>): AsyncGenerator<Item> {
      let count = 0;
      for await (const item of items) {
        if (count === at && (failures[prefix] ?? 0) > 0) {
          failures[prefix] = (failures[prefix] ?? 0) - 1;
          throw error;
        }
        count += 1;
        yield item;
      }
    }
    const over = retryingReads({
      ...store,
      list: (prefix, range) => failing(prefix, store.list(prefix, range)),
      folders: (prefix) => failing(prefix, store.folders(prefix)),
    });
    const listed: string[] = [];
    const list = async () => {
      for await (const { key } of over.list(HOUR_FOLDER)) listed.push(key.slice(HOUR_FOLDER.length));
      return listed;
    };
    return { list, listed };
  }

  it('bring what is there where one attempt fails', async () => {
    expect(await unlisted({ [HOUR_FOLDER]: 1 }).list()).toEqual(['a', 'b']);
  });

  it('end in an error of the folder alone where each attempt fails and the ledger is listed', async () => {
    const error = await unlisted({ [HOUR_FOLDER]: 9 })
      .list()
      .catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(UnreadableError);
    expect(error).toMatchObject({ condition: null, key: HOUR_FOLDER });
  });

  it('bring nothing twice: one that breaks off is not tried again', async () => {
    const { list, listed } = unlisted({ [HOUR_FOLDER]: 1 }, 1);
    await expect(list()).rejects.toBeInstanceOf(UnreadableError);
    expect(listed).toEqual(['a']);
  });

  it.each([
    ['the ledger is not listed either', { [HOUR_FOLDER]: 9, 'ledger/': 9 }, undefined],
    ['the listing is not whole', { [HOUR_FOLDER]: 9 }, new PartialListingError(HOUR_FOLDER, 'c')],
  ])('end in the error of the store where %s', async (_, failures, given) => {
    const error = await unlisted({ ...failures } as Record<string, number>, 0, given)
      .list()
      .catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).not.toBeInstanceOf(UnreadableError);
  });
});

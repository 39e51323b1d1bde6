import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { retryingReads, UnreadableObjectError } from '../../../src/ledger/retrying-reads.js';
import { type ObjectStore, StoreError } from '../../../src/store/object-store.js';
import { readToEnd } from '../../../src/store/read-to-end.js';
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
      throw new Error('EIO');
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
      const { read } = failing(times, fail);
      const reading = await read();
      expect(String(await readToEnd('ledger/one', (reading as NonNullable<typeof reading>).body))).toBe(
        'text',
      );
    }
  });

  it.each([
    ['rejects', denied],
    ['breaks off', cut],
  ])('end in an error of the object alone where each attempt %s and the store answers', async (_, fail) => {
    const { read, reads } = failing(9, fail);
    const error = await read().catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(UnreadableObjectError);
    expect(error).toMatchObject({ condition: null, message: expect.stringContaining('ledger/one') });
    expect(reads()).toBe(3);
  });

  it('reject at once where the store does not answer', async () => {
    const { read, reads } = failing(1, denied, false);
    await expect(read()).rejects.not.toBeInstanceOf(UnreadableObjectError);
    expect(reads()).toBe(1);
  });

  it('bring null for an object that is missing', async () => {
    expect(await retryingReads(createMemoryStore()).read('ledger/none')).toBeNull();
  });
});

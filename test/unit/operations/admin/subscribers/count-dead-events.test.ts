import { expect, it } from '@jest/globals';
import { encodeTime } from 'ulid';
import { deadEventKey } from '../../../../../src/archive/layout.js';
import { createDeadEventCounter } from '../../../../../src/operations/admin/subscribers/count-dead-events.js';
import { type BeforeCall, createMemoryStore } from '../../../../support/store/memory-store.js';

const BEGIN = Date.parse('2026-03-04T08:00:00.000Z');
const NO_INDEX = { sources: async () => [] };

const idOf = (n: number) => `${encodeTime(BEGIN + n * 1000, 10)}0000000000000000`;
const timeOf = (n: number) => new Date(BEGIN + n * 1000).toISOString();

/** @param of source of the n-th event; it is dead a second after the one before */
function storeWith(count: number, of: (n: number) => string | null, before?: BeforeCall) {
  const store = createMemoryStore(before);
  for (let n = 0; n < count; n += 1) {
    const dead = {
      v: 1,
      subscriber: 'crm',
      reason: 'rejected',
      endedAt: timeOf(n),
      attempts: 1,
      event: { id: idOf(n), data: { jobId: `job${n}`, source: of(n) } },
      history: [{ at: timeOf(n), status: 410, error: null }],
    };
    store.put(deadEventKey('crm', idOf(n)), JSON.stringify(dead));
  }
  return store;
}

it('counts dead events of the sources that exist for a client', async () => {
  const store = storeWith(9, (n) => (n === 8 ? null : n % 2 === 0 ? 'intake' : 'other'));
  const countDead = createDeadEventCounter(store, NO_INDEX);
  expect(await countDead('crm', null)).toEqual(
    new Map([
      ['intake', 4],
      ['other', 4],
      [null, 1],
    ] as const),
  );
  expect(await countDead('crm', new Set(['other']))).toEqual(new Map([['other', 4]]));
});

it('goes on where a count was given up, of many events that the index does not know', async () => {
  const ending = new AbortController();
  let reads = 0;
  const store = storeWith(
    12_000,
    () => 'intake',
    (operation) => {
      if (operation !== 'read') return;
      reads += 1;
      if (reads === 11_000) ending.abort(new Error('nobody waits any more'));
    },
  );
  const countDead = createDeadEventCounter(store, NO_INDEX);
  await expect(countDead('crm', null, ending.signal)).rejects.toThrow('nobody waits any more');
  expect(reads).toBeLessThan(11_100);
  expect(await countDead('crm', null)).toEqual(new Map([['intake', 12_000]]));
  expect(reads).toBeLessThan(12_100);
});

it('asks for no order, so that a folder of many is read once', async () => {
  const store = storeWith(3, () => 'intake');
  const orders: unknown[] = [];
  const keys: typeof store.keys = (prefix, range) => {
    orders.push(range?.anyOrder);
    return store.keys(prefix, range);
  };
  await createDeadEventCounter({ ...store, keys }, NO_INDEX)('crm', null);
  expect(orders).toEqual([true]);
});

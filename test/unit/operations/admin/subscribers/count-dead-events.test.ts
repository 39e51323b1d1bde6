import { expect, it } from '@jest/globals';
import { encodeTime } from 'ulid';
import { deadEventKey } from '../../../../../src/archive/layout.js';
import { createDeadEventCounter } from '../../../../../src/operations/admin/subscribers/count-dead-events.js';
import { type BeforeCall, createMemoryStore } from '../../../../support/store/memory-store.js';

const BEGIN = Date.parse('2026-03-04T08:00:00.000Z');
const NO_INDEX = { facts: async () => [] };

const idOf = (n: number) => `${encodeTime(BEGIN + n * 1000, 10)}0000000000000000`;
const timeOf = (n: number) => new Date(BEGIN + n * 1000).toISOString();

/** @param of source and status of the n-th event; it is dead a second after the one before */
function storeWith(
  count: number,
  of: (n: number) => readonly [source: string | null, status: number],
  before?: BeforeCall,
) {
  const store = createMemoryStore(before);
  for (let n = 0; n < count; n += 1) {
    const [source, status] = of(n);
    const dead = {
      ...{ v: 1, subscriber: 'crm', reason: 'rejected', endedAt: timeOf(n), attempts: 1 },
      event: { id: idOf(n), data: { jobId: `job${n}`, source } },
      history: [{ at: timeOf(n), status, error: null, answer: `answer ${n}` }],
    };
    store.put(deadEventKey('crm', idOf(n)), JSON.stringify(dead));
  }
  return store;
}

it('says what dead events have in common, of the sources that exist for a client', async () => {
  const store = storeWith(9, (n) => [n === 8 ? null : n % 2 === 0 ? 'intake' : 'other', n < 2 ? 410 : 503]);
  const dead = createDeadEventCounter(store, NO_INDEX);
  expect(await dead.bySource('crm', null)).toEqual(
    new Map([
      ['intake', 4],
      ['other', 4],
      [null, 1],
    ] as const),
  );
  expect(await dead.bySource('crm', new Set(['other']))).toEqual(new Map([['other', 4]]));
  expect(await dead.causes('crm', null)).toEqual([
    { code: '503', count: 7, first: timeOf(2), last: timeOf(8), answer: 'answer 8' },
    { code: '410', count: 2, first: timeOf(0), last: timeOf(1), answer: 'answer 1' },
  ]);
  expect(await dead.causes('crm', new Set(['intake']))).toEqual([
    { code: '503', count: 3, first: timeOf(2), last: timeOf(6), answer: 'answer 6' },
    { code: '410', count: 1, first: timeOf(0), last: timeOf(0), answer: 'answer 0' },
  ]);
});

it('goes on where a count was given up, of many events that the index does not know', async () => {
  const ending = new AbortController();
  let reads = 0;
  const store = storeWith(
    12_000,
    () => ['intake', 410],
    (operation) => {
      if (operation !== 'read') return;
      reads += 1;
      if (reads === 11_000) ending.abort(new Error('nobody waits any more'));
    },
  );
  const dead = createDeadEventCounter(store, NO_INDEX);
  await expect(dead.bySource('crm', null, ending.signal)).rejects.toThrow('nobody waits any more');
  expect(reads).toBeLessThan(11_100);
  expect(await dead.bySource('crm', null)).toEqual(new Map([['intake', 12_000]]));
  expect(reads).toBeLessThan(12_100);
});

it('asks for no order, so that a folder of many is read once', async () => {
  const store = storeWith(3, () => ['intake', 410]);
  const orders: unknown[] = [];
  const keys: typeof store.keys = (prefix, range) => {
    orders.push(range?.anyOrder);
    return store.keys(prefix, range);
  };
  await createDeadEventCounter({ ...store, keys }, NO_INDEX).bySource('crm', null);
  expect(orders).toEqual([true]);
});

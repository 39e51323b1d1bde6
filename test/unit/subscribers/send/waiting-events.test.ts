import { expect, it } from '@jest/globals';
import { StoreError } from '../../../../src/store/object-store.js';
import type { WaitingEvent } from '../../../../src/subscribers/outbox-state.js';
import { createOutboxStore } from '../../../../src/subscribers/outbox-store.js';
import { RETRY_TIMES } from '../../../../src/subscribers/send/attempt-policy.js';
import { createWaitingEvents } from '../../../../src/subscribers/send/waiting-events.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const NOW = Date.parse('2026-03-04T05:30:00Z');
const MORE = { clock: () => NOW, times: RETRY_TIMES };

const waiting = Array.from({ length: 200 }, (_, n): WaitingEvent => {
  const segment = { hour: 'dt=2026-03-04/hour=05/', writer: 'w', number: 1 };
  const line = {
    id: `event-${n}`,
    jobId: `job-${n}`,
    segment,
    receivedAt: '2026-03-04T05:00:00Z',
    source: null,
  };
  return { ...line, firstTriedAt: NOW, nextTryAt: NOW + n, attempts: 1, history: [] };
});

it('has each event in memory until its batch is written, also where the store refuses that first', async () => {
  let isAway = true;
  const duringWrite: number[] = [];
  const store = createMemoryStore(() => {
    duringWrite.push(events.states().length);
    if (isAway) throw new StoreError('replace', 'away');
  });
  const documents = createOutboxStore(store, 'crm');
  const events = createWaitingEvents({ state: { claim: 7, waiting, batches: [] }, ...MORE, documents });
  await expect(events.move(NOW)).rejects.toThrow('away');
  expect([events.states().length, events.batches()]).toEqual([200, []]);
  isAway = false;
  await events.move(NOW);
  expect(duringWrite).toEqual([200, 200]);
  const bySource = [{ source: null, events: 100, oldest: NOW - 30 * 60_000 }];
  expect(events.batches()).toEqual([{ name: '7-2', dueAt: NOW + 199, bySource }]);
  expect(events.states()).toEqual(waiting.slice(0, 100));
  expect(await documents.readBatch('7-2')).toEqual(waiting.slice(100));
  expect(events.move(NOW)).toBeNull();
});

it('writes no more batches than a state may name', () => {
  const batches = Array.from({ length: 1000 }, (_, n) => ({ name: `6-${n}`, dueAt: NOW + n, bySource: [] }));
  const documents = createOutboxStore(createMemoryStore(), 'crm');
  expect(
    createWaitingEvents({ state: { claim: 7, waiting, batches }, ...MORE, documents }).move(NOW),
  ).toBeNull();
});

it('names a batch that is gone until its events are no longer tried', async () => {
  const oldest = NOW - RETRY_TIMES.total;
  const batches = [{ name: '6-1', dueAt: NOW - 1, bySource: [{ source: null, events: 1, oldest }] }];
  const documents = createOutboxStore(createMemoryStore(), 'crm');
  let now = NOW;
  const events = createWaitingEvents({
    state: { claim: 7, waiting: [], batches },
    documents,
    clock: () => now,
    times: RETRY_TIMES,
  });
  await expect(events.move(now)).rejects.toThrow('waiting/6-1.json is gone or damaged: restore it, or');
  expect(events.batches()).toHaveLength(1);
  now += 60_000;
  await expect(events.move(now)).rejects.toThrow('its events are not sent');
  expect(events.batches()).toEqual([]);
});

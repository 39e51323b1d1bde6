import { expect, it } from '@jest/globals';
import { findEvent } from '../../../src/subscribers/subscriber-run.js';
import { putSegment } from '../../support/ledger/ledger-segments.js';
import { mergeLedger } from '../../support/ledger/merge-ledger.js';
import { storedLine } from '../../support/outbox/subscribed.js';
import { createMemoryStore } from '../../support/store/memory-store.js';

it('an event that waits is not given up while the merged hour of its line is damaged', async () => {
  let now = Date.parse('2026-03-04T05:30:00.700Z');
  const store = createMemoryStore(undefined, () => now);
  const line = storedLine({ receivedAt: '2026-03-04T05:29:00.000Z', jobId: 'job-1' });
  const segment = putSegment(store, new Date(now).toISOString(), [storedLine(), line], 'a');
  const { receivedAt, source, deliveryId: id } = line;
  const place = { hour: 'dt=2026-03-04/hour=05/', writer: 'a', number: 1 };
  const times = { segment: place, firstTriedAt: now, nextTryAt: now };
  const waiting = { id, jobId: 'job-1', receivedAt, source, ...times, attempts: 1, history: [] };
  expect(await findEvent(store, waiting)).toMatchObject({ id, subject: 'job-1' });
  now += 2 * 3_600_000;
  await mergeLedger({ store, clock: () => now, keepSegments: null });
  store.objects.delete(segment);
  const key = [...store.objects.keys()].find((each) => each.endsWith('.gz')) ?? '';
  const file = store.objects.get(key);
  store.put(key, 'damaged');
  await expect(findEvent(store, waiting)).rejects.toThrow(key);
  if (file) store.objects.set(key, file);
  expect(await findEvent(store, waiting)).toMatchObject({ id });
  expect(await findEvent(store, { ...waiting, id: '01KJVN49B0F7CNCGW8AZ24BMMN' })).toBeNull();
});

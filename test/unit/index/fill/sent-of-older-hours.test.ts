import { expect, it } from '@jest/globals';
import { createIndexFiller } from '../../../../src/index/fill/fill-index.js';
import { fillAll } from '../../../../src/index/fill/index-filler.js';
import { HOUR, hourAt } from '../../../../src/ledger/hours.js';
import { segmentKey } from '../../../../src/ledger/segment-key.js';
import { indexInProcess } from '../../../support/ledger/index-in-process.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const WRITTEN = Date.parse('2026-03-04T05:10:00.000Z');

it('takes what was sent in older hours also after a restart, while nobody looks', async () => {
  const now = WRITTEN + 10 * HOUR;
  const store = createMemoryStore(undefined, () => now);
  const attempt = {
    ...{
      v: 1,
      event: 'event',
      jobId: 'job',
      source: null,
      type: 'job.stored',
      at: new Date(WRITTEN).toISOString(),
    },
    ...{ status: 204, error: null, attempt: 1, ended: 'delivered', durationMs: 3, line: null },
  };
  const key = segmentKey({ hour: hourAt(WRITTEN), writer: 'removed/w', number: 1 });
  store.put(key, `${JSON.stringify(attempt)}\n`, WRITTEN);
  const index = await indexInProcess({ path: null }, 'store');
  const filler = (reach: number) =>
    createIndexFiller({
      ...{ store, index, clock: () => now, reach, retention: HOUR, maxBytes: 2 ** 30 },
      isLookedAt: () => false,
    });
  await fillAll(filler(2 * HOUR));
  expect(await index.call('eventsOfJob', 'job')).toEqual([]);

  await fillAll(filler(24 * HOUR));
  expect(await index.call('eventsOfJob', 'job')).toMatchObject([
    { subscriber: 'removed', outcome: 'delivered' },
  ]);
  await index.close();
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createIndexFiller } from '../../../../src/index/fill/fill-index.js';
import { fillAll } from '../../../../src/index/fill/index-filler.js';
import { indexInThread } from '../../../../src/index/fill/index-in-thread.js';
import { HOUR, hourAt } from '../../../../src/ledger/hours.js';
import { segmentKey } from '../../../../src/ledger/segment-key.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const WRITTEN = Date.parse('2026-03-04T05:10:00.000Z');

describe('what was sent to a subscriber', () => {
  let now: number;
  let store: ReturnType<typeof createMemoryStore>;
  let index: Awaited<ReturnType<typeof indexInThread>>;

  beforeEach(async () => {
    store = createMemoryStore(undefined, () => now);
    index = await indexInThread({ path: null }, 'store');
  });
  afterEach(() => index.close());

  function send(subscriber: string): void {
    const attempt = {
      v: 1,
      event: 'event',
      jobId: 'job',
      source: null,
      type: 'job.stored',
      at: new Date(WRITTEN).toISOString(),
      status: 204,
      error: null,
      attempt: 1,
      ended: 'delivered',
      durationMs: 3,
      line: null,
    };
    const key = segmentKey({ hour: hourAt(WRITTEN), writer: `${subscriber}/w`, number: 1 });
    store.put(key, `${JSON.stringify(attempt)}\n`, WRITTEN);
  }

  const filler = (reach: number) =>
    createIndexFiller({
      store,
      index,
      clock: () => now,
      reach,
      retention: HOUR,
      maxBytes: 2 ** 30,
      subscribers: ['crm'],
    });

  it('is taken of older hours also after a restart', async () => {
    now = WRITTEN + 10 * HOUR;
    send('removed');
    await fillAll(filler(2 * HOUR));
    expect(await index.call('eventsOfJob', 'job')).toEqual([]);

    await fillAll(filler(24 * HOUR));
    expect(await index.call('eventsOfJob', 'job')).toMatchObject([
      { subscriber: 'removed', outcome: 'delivered' },
    ]);
  });

  it('is taken at once of the first event of a subscriber', async () => {
    now = WRITTEN;
    const follower = filler(HOUR);
    await follower.addNew();
    send('crm');
    await follower.addNew();
    expect(await index.call('eventsOfJob', 'job')).toMatchObject([{ subscriber: 'crm' }]);
  });
});

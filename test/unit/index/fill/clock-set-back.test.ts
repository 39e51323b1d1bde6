import { describe, expect, it } from '@jest/globals';
import { createIndexFiller } from '../../../../src/index/fill/fill-index.js';
import { fillAll } from '../../../../src/index/fill/index-filler.js';
import { indexInThread } from '../../../../src/index/fill/index-in-thread.js';
import { HOUR } from '../../../../src/ledger/hours.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../support/ledger/ledger-segments.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const DAY = 24 * HOUR;

/** An index, and a clock that is a month ahead. */
async function world() {
  let now = Date.parse('2026-04-04T05:30:00Z');
  const store = createMemoryStore(undefined, () => now);
  const index = await indexInThread({ path: null }, 'store');
  return {
    index,
    filler: () =>
      createIndexFiller({
        store,
        index,
        clock: () => now,
        reach: 90 * DAY,
        retention: DAY,
        maxBytes: 2 ** 30,
      }),
    put: (writer: string) => putSegment(store, new Date(now).toISOString(), [ledgerLine()], writer),
    setTo: (instant: string) => {
      now = Date.parse(instant);
    },
  };
}

describe('an index whose clock was ahead and is set back', () => {
  it('has at once what was written just before', async () => {
    const { index, filler, put, setTo } = await world();
    const running = filler();
    await fillAll(running);
    put('a');
    setTo('2026-03-04T05:30:00Z');
    await fillAll(running);
    expect(await index.call('countLines')).toBe(1);
    await index.close();
  });

  it('has that after a restart as well', async () => {
    const { index, filler, put, setTo } = await world();
    put('a');
    setTo('2026-03-04T05:30:00Z');
    await fillAll(filler());
    expect(await index.call('countLines')).toBe(1);
    await index.close();
  });

  it('claims no hour in which nobody followed', async () => {
    const { index, filler, put, setTo } = await world();
    await fillAll(filler());
    setTo('2026-03-04T05:30:00Z');
    put('b');
    setTo('2026-03-04T09:30:00Z');
    await fillAll(filler());
    expect(await index.call('countLines')).toBe(1);
    await index.close();
  });

  it('lists whole hours again within a day', async () => {
    const { index, filler, put, setTo } = await world();
    const running = filler();
    await fillAll(running);
    setTo('2026-03-04T05:30:00Z');
    await fillAll(running);
    setTo('2026-03-05T05:30:00Z');
    await fillAll(running);
    setTo('2026-03-05T02:30:00Z');
    put('late');
    setTo('2026-03-06T06:30:00Z');
    await fillAll(running);
    expect(await index.call('countLines')).toBe(1);
    await index.close();
  });
});

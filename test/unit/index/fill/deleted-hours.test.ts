import { expect, it } from '@jest/globals';
import { createIndexFiller } from '../../../../src/index/fill/fill-index.js';
import { fillAll } from '../../../../src/index/fill/index-filler.js';
import { indexInThread } from '../../../../src/index/fill/index-in-thread.js';
import { WHOLE } from '../../../../src/index/queries/align-period.js';
import { HOUR } from '../../../../src/ledger/hours.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../support/ledger/ledger-segments.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const WRITTEN = '2026-03-04T05:10:00.000Z';
const DAY = 24 * HOUR;
/** Lines of each segment: together more than a step deletes. */
const SEGMENTS = [10, 5000, 5000];
const LINES = 10_010;

it.each([10, 0])(
  'counts each line of an hour once that was deleted but for %i of them and is read again',
  async (left) => {
    const now = Date.parse(WRITTEN) + 5 * DAY;
    const store = createMemoryStore(undefined, () => now);
    const line = ledgerLine({ context: { customer: 'acme' } });
    for (const lines of SEGMENTS) putSegment(store, WRITTEN, Array(lines).fill(line));
    const index = await indexInThread({ path: null }, 'store');
    const filler = (reach: number) =>
      createIndexFiller({ store, index, clock: () => now, reach, retention: DAY, maxBytes: 2 ** 30 });
    const linesLeft = async () => (await index.call('findLines', { limit: 20_000 })).length;
    const question = {
      range: { since: 0, until: now },
      parts: WHOLE,
      by: 'context.customer' as const,
      limit: 1,
      refusals: [],
      lastSince: now,
    };
    const counted = async () => [
      await index.call('countLines'),
      await linesLeft(),
      (await index.call('summarise', question)).groups?.find(({ value }) => value === 'acme')?.lines,
    ];
    await fillAll(filler(30 * DAY));
    expect(await counted()).toEqual([LINES, LINES, LINES]);

    const smaller = filler(2 * DAY);
    await smaller.addNew();
    const steps = smaller.addOlder();
    while ((await linesLeft()) > left) await steps.next();
    expect(await linesLeft()).toBe(left);

    await fillAll(filler(30 * DAY));
    expect(await counted()).toEqual([LINES, LINES, LINES]);
    await index.close();
  },
);

import { describe, expect, it } from '@jest/globals';
import { createRollupListing } from '../../../../../src/ledger/read/figures/rollup-listing.js';
import { createRollupReader } from '../../../../../src/ledger/read/figures/rollup-reader.js';
import { putDaily, putRollup } from '../../../../support/ledger/compacted-hours.js';
import { ledgerLine } from '../../../../support/ledger/ledger-lines.js';
import { createMemoryStore } from '../../../../support/store/memory-store.js';

const NOW = Date.parse('2026-03-24T12:30:00.000Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const DAYS = 5;

/** A store with the rollups of some days, the last of which ended two days ago. */
async function storeOfDays() {
  const store = createMemoryStore();
  for (let day = 0; day < DAYS; day += 1) {
    const receivedAt = new Date(Date.parse('2026-03-17T03:00:00.000Z') + day * DAY).toISOString();
    const hour = await putRollup(store, receivedAt, 1, [ledgerLine({ receivedAt })]);
    putDaily(store, receivedAt.slice(0, 10), [hour]);
  }
  return store;
}
const RANGE = {
  since: Date.parse('2026-03-17T00:00:00.000Z'),
  until: Date.parse('2026-03-22T00:00:00.000Z'),
};

describe('the reader of rollups', () => {
  it('decodes documents that arrive together one after the other, with a pause before each', async () => {
    const store = await storeOfDays();
    const paused: (() => void)[] = [];
    const pause = () => new Promise<void>((resolve) => paused.push(resolve));
    const reader = createRollupReader(
      store,
      createRollupListing(store, () => NOW),
      pause,
    );
    const figures = reader.figures(RANGE, DAY, null);
    // Each is decoded, and its figures taken from it.
    for (let step = 1; step <= 2 * DAYS; step += 1) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      expect(paused).toHaveLength(step);
      paused.at(-1)?.();
    }
    expect((await figures).files).toHaveLength(DAYS);
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import { indexInThread } from '../../../src/index/fill/index-in-thread.js';
import { createLedgerView, type LedgerView } from '../../../src/index/ledger-view.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { putSegment } from '../../support/ledger/ledger-segments.js';
import { createMemoryStore } from '../../support/store/memory-store.js';

const NOW = Date.parse('2026-03-31T12:00:00.000Z');
const DAY = 86_400_000;

describe('an act on a selection', () => {
  let view: LedgerView;
  afterEach(() => view.stop());

  it('is refused when it reaches further back than the index, and not otherwise', async () => {
    const store = createMemoryStore(undefined, () => NOW);
    for (const day of ['01', '30']) {
      const receivedAt = `2026-03-${day}T05:00:00.000Z`;
      putSegment(store, receivedAt, [ledgerLine({ jobId: `j${day}`, receivedAt, outcome: 'failed' })]);
    }
    view = createLedgerView({
      store,
      clock: () => NOW,
      startIndex: indexInThread,
      reach: 10 * DAY,
      retention: 20 * DAY,
    });
    await view.refresh();
    const { since } = view.extent();
    expect(since).not.toBeNull();
    const conflict = { code: 'conflict', message: expect.stringContaining(`before ${since}`) };
    await expect(view.requireReach({ since: '2026-03-02' })).rejects.toMatchObject(conflict);
    await expect(view.requireReach({})).rejects.toMatchObject(conflict);
    await expect(view.allFailing({})).rejects.toMatchObject(conflict);
    await view.requireReach({ since: since ?? '' });
    expect(await view.allFailing({ since: Date.parse(since ?? '') })).toMatchObject({ jobs: ['j30'] });
  });
});

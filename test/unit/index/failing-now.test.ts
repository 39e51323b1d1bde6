import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { indexInThread } from '../../../src/index/fill/index-in-thread.js';
import { createLedgerView, type LedgerView } from '../../../src/index/ledger-view.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { putSegment } from '../../support/ledger/ledger-segments.js';
import { createMemoryStore, type MemoryStore } from '../../support/store/memory-store.js';

const NOW = Date.parse('2026-03-31T12:00:00.000Z');

describe('when the service next deletes results of failing jobs', () => {
  let store: MemoryStore;
  let view: LedgerView;

  beforeEach(() => {
    store = createMemoryStore(undefined, () => NOW);
    view = createLedgerView({
      store,
      clock: () => NOW,
      startIndex: indexInThread,
      retention: 7 * 86_400_000,
    });
  });
  afterEach(() => view.stop());

  async function failingAfter(...lines: readonly Partial<LedgerLine>[]) {
    for (const line of lines) putSegment(store, String(line.receivedAt), [ledgerLine(line)]);
    await view.refresh();
    return view.failingNow({ givenUpBy: NOW });
  }

  it('counts from when a callback was expected, where a reconcile found days later that it was lost', async () => {
    const lost = { jobId: 'lost', outcome: 'failed', origin: 'recovery' } as const;
    const expectedAt = '2026-03-26T00:00:00.000Z';
    const found = await failingAfter({ ...lost, receivedAt: '2026-03-31T10:00:00.000Z', expectedAt });
    expect(found).toMatchObject({ since: expectedAt, nextEnd: '2026-04-02T00:00:00.000Z' });
    // Also when an operator fetches it, who is not counted as recovery.
    const again = { ...lost, receivedAt: '2026-03-31T11:00:00.000Z', actor: 'op' };
    expect(await failingAfter({ ...again, expectedAt: '2026-03-25T00:00:00.000Z' })).toMatchObject({
      nextEnd: '2026-04-01T00:00:00.000Z',
    });
  });

  it('is that of the first one whose results can still be fetched, whichever failing job is older', async () => {
    const found = await failingAfter(
      { jobId: 'both', outcome: 'conflict', receivedAt: '2026-03-25T00:00:00.000Z' },
      { jobId: 'ended', outcome: 'stored', receivedAt: '2026-03-24T00:00:00.000Z' },
      { jobId: 'ended', outcome: 'failed', receivedAt: '2026-03-30T00:00:00.000Z' },
      { jobId: 'open', outcome: 'refused', receivedAt: '2026-03-26T00:00:00.000Z' },
      { jobId: 'later', outcome: 'failed', receivedAt: '2026-03-27T00:00:00.000Z' },
    );
    expect(found.nextEnd).toBe('2026-04-02T00:00:00.000Z');
  });
});

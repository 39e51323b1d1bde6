import { describe, expect, it } from '@jest/globals';
import { createLedgerView } from '../../../../src/ledger/read/ledger-view.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../support/ledger/ledger-segments.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';
import { until } from '../../../support/until.js';

const NOW = Date.parse('2026-03-04T12:30:00.000Z');
const SECOND = 1000;
const SEGMENTS = 1000;

describe('a search of the ledger that is ended', () => {
  it('throws the reason, and begins no further call of the store', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const store = createMemoryStore((operation) => (operation === 'read' ? held : undefined));
    for (let n = 0; n < SEGMENTS; n += 1) {
      const at = new Date(NOW - n * 10 * SECOND).toISOString();
      putSegment(store, at, [ledgerLine({ receivedAt: at })]);
    }
    const view = createLedgerView({ store, clock: () => NOW });
    const ending = new AbortController();
    const { signal } = ending;
    const found = view.deliveries({ since: '2026-03-04', region: 'nowhere', signal }).catch((error) => error);
    const reads = () => store.calls.filter(({ operation }) => operation === 'read').length;
    await until(() => reads() > 0);
    ending.abort();
    const begun = store.calls.length;
    release();
    expect(await found).toBe(signal.reason);
    // Hours are looked up ahead of their turn.
    expect(store.calls.length - begun).toBeLessThanOrEqual(8);
  });
});

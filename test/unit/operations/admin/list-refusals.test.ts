import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { indexInThread } from '../../../../src/index/fill/index-in-thread.js';
import { createLedgerView } from '../../../../src/index/ledger-view.js';
import { createRefusalRing } from '../../../../src/observe/refusal-ring.js';
import { listRefusals } from '../../../../src/operations/admin/list-refusals.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../support/ledger/ledger-segments.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const NOW = Date.parse('2026-03-04T12:30:00.000Z');
/** Few instants, so that many refusals share one. */
const instants = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 12 });
const at = (n: number) => new Date(NOW - 1000 + n).toISOString();

describe('refusals', () => {
  it('come page by page, each once, newest first', async () => {
    await fc.assert(
      fc.asyncProperty(instants, instants, fc.integer({ min: 1, max: 4 }), async (unknown, known, limit) => {
        const store = createMemoryStore();
        const lines = known.map((n) =>
          ledgerLine({ receivedAt: at(n), outcome: 'refused', reason: 'query-invalid' }),
        );
        for (const line of lines.toSorted((a, b) => a.receivedAt.localeCompare(b.receivedAt)))
          putSegment(store, line.receivedAt, [line]);
        const ring = createRefusalRing();
        for (const [index, n] of unknown.toSorted().entries()) {
          ring.add({
            at: at(n),
            source: null,
            clientIp: null,
            reason: 'credential-invalid',
            cause: null,
            userAgent: `${index}`,
            peer: null,
            forwardedFor: null,
          });
        }
        const view = createLedgerView({ store, clock: () => NOW, startIndex: indexInThread });
        await view.refresh();
        const seen: string[] = [];
        const times: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await listRefusals(ring, view, { limit, cursor });
          expect(page.refusals.length).toBeLessThanOrEqual(limit);
          seen.push(
            ...page.refusals.map(({ deliveryId, userAgent }) => deliveryId ?? `unknown ${userAgent}`),
          );
          times.push(...page.refusals.map((refusal) => refusal.at));
          cursor = page.nextCursor ?? undefined;
        } while (cursor !== undefined);
        const expected = [
          ...lines.map(({ deliveryId }) => deliveryId),
          ...unknown.map((_, index) => `unknown ${index}`),
        ];
        expect(seen.toSorted()).toEqual(expected.toSorted());
        expect(times).toEqual(times.toSorted().reverse());
        await view.stop();
      }),
      { numRuns: 60 },
    );
  });
});

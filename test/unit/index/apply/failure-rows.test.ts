import { describe, expect, it } from '@jest/globals';
import { createLedgerIndex } from '../../../../src/index/ledger-index.js';
import { WHOLE } from '../../../../src/index/queries/align-period.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';

const HOUR = Date.parse('2026-03-04T12:00:00.000Z');

const contentOf = (lines: readonly object[]) =>
  Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));

describe('a failing job', () => {
  it.each([
    ['failed', 'failed'],
    ['refused', 'failed'],
    ['failed', 'refused'],
  ] as const)(
    'is shown by the line that comes later in the log, where two were received at once, whichever is read first: %s, %s',
    (...outcomes) => {
      const receivedAt = new Date(HOUR).toISOString();
      const failed = (number: number) =>
        ledgerLine({
          jobId: 'job',
          outcome: outcomes[number - 1] ?? 'failed',
          reason: `the ${number}th`,
          receivedAt,
        });
      const segments = [1, 2].map((number) => ({
        hour: HOUR,
        writer: 'w',
        number,
        written: HOUR + number,
        // The line is not the first one of its segment.
        content: contentOf([ledgerLine({ receivedAt }), failed(number)]),
      }));
      const [first, second] = segments;
      const shown = [segments, [{ ...second, writer: 'a' }, first]].map((given) => {
        const index = createLedgerIndex(':memory:', 'store');
        for (const segment of given) index.apply([segment as (typeof segments)[number]]);
        const { causes } = index.failurePage({ limit: 1, after: null });
        index.close();
        return causes.map(({ code }) => code);
      });
      expect(shown).toEqual([['the 2th'], ['the 2th']]);
    },
  );

  it('and figures can be read although lines hold sizes that no body has', () => {
    const index = createLedgerIndex(':memory:', 'store');
    const huge = { outcome: 'failed', bytes: Number.MAX_VALUE, receivedAt: new Date(HOUR).toISOString() };
    const content = contentOf([ledgerLine(huge), ledgerLine(huge)]);
    index.apply([{ hour: HOUR, writer: 'w', number: 1, written: HOUR, content }]);
    expect(index.findFailures()).toHaveLength(2);
    const range = { since: HOUR, until: HOUR + 3_600_000 };
    const parts = { ...WHOLE, begin: HOUR };
    const sum = index.summarise({ range, parts, by: null, limit: 1, refusals: [], lastSince: HOUR });
    expect(sum.total.lines).toBe(2);
    index.close();
  });
});

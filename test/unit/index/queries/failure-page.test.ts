import { expect, it } from '@jest/globals';
import { createLedgerIndex } from '../../../../src/index/ledger-index.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';

const HOUR = Date.parse('2026-03-04T12:00:00.000Z');

it('gives the hundred largest causes and the one that was asked for, where each job has a cause of its own', () => {
  const reasons = [...Array.from({ length: 149 }, (_, at) => `words ${1000 + at}`), 'words 1000'];
  const lines = reasons.map((reason) => ledgerLine({ outcome: 'failed', reason }));
  const content = Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n'));
  const index = createLedgerIndex(':memory:', 'store');
  index.apply([{ hour: HOUR, writer: 'w', number: 1, written: HOUR, content }]);
  const all = index.failurePage({ limit: 1, after: null });
  expect(all.counts).toEqual({ failed: 150 });
  expect(all.causes).toHaveLength(100);
  expect(all.causes[0]).toMatchObject({ code: 'words 1000', count: 2 });
  const { causes } = index.failurePage({ limit: 1, after: null, cause: 'words 1148' });
  expect(causes).toHaveLength(101);
  expect(causes.at(-1)).toMatchObject({ code: 'words 1148', count: 1 });
  index.close();
});

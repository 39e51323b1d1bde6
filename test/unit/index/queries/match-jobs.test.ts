import { expect, it } from '@jest/globals';
import { createLedgerIndex } from '../../../../src/index/ledger-index.js';
import { HOUR } from '../../../../src/ledger/hours.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';

it('a part of a context value is found however many newer values of other sources have it', () => {
  const begin = Date.parse('2026-03-04T12:00:00.000Z');
  const index = createLedgerIndex(':memory:', 'store');
  for (let at = 0; at < 40; at += 1) {
    const source = at === 0 ? 'mine' : 'other';
    const line = ledgerLine({ jobId: `job-${at}`, source, context: { customer: `acme-${at}` } });
    const content = Buffer.from(`${JSON.stringify(line)}\n`);
    index.apply([
      { hour: begin - (begin % HOUR), writer: 'w', number: at + 1, written: begin + at, content },
    ]);
  }
  const found = index.matchJobs({
    text: 'acme',
    match: 'part',
    names: ['customer'],
    limit: 20,
    scope: new Set(['mine']),
  });
  expect(found.map(({ by, place }) => [by, place.number])).toEqual([['context', 1]]);
  index.close();
});

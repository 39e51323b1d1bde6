import { expect, it } from '@jest/globals';
import { createLedgerIndex } from '../../../../src/index/ledger-index.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';

const HOUR = Date.parse('2026-03-04T12:00:00.000Z');

it('of the jobs that a reconcile missed those are settled that came since, or whose loss was accepted at any time; others fail', () => {
  const lineOf = (
    minute: number,
    jobId: string,
    outcome: 'failed' | 'stored' | 'acknowledged' | 'recovered',
  ) => ledgerLine({ jobId, outcome, receivedAt: new Date(HOUR + minute * 60_000).toISOString() });
  const lines = [
    lineOf(1, 'lost from the store', 'stored'),
    lineOf(1, 'accepted', 'failed'),
    lineOf(2, 'accepted', 'acknowledged'),
    lineOf(20, 'fetched', 'failed'),
    lineOf(30, 'fetched', 'recovered'),
    lineOf(31, 'failing again', 'recovered'),
    lineOf(32, 'failing again', 'failed'),
  ];
  const content = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const index = createLedgerIndex(':memory:', 'store');
  index.apply([{ hour: HOUR, writer: 'w', number: 1, written: HOUR, content }]);
  const jobs = ['unknown', 'lost from the store', 'accepted', 'fetched', 'failing again'];
  const found = index.missedJobs({ jobs, since: HOUR + 10 * 60_000 });
  expect(found).toEqual({ settled: ['accepted', 'fetched'], failing: 1 });
  index.close();
});

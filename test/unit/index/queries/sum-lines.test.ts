import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createLedgerIndex, type LedgerIndex } from '../../../../src/index/ledger-index.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';

const HOUR = Date.parse('2026-03-04T12:00:00.000Z');
const ALL = { range: { since: HOUR, until: HOUR + 3_600_000 } };

let index: LedgerIndex;
beforeEach(() => {
  index = createLedgerIndex(':memory:', 'store');
});
afterEach(() => index.close());

it('counts no missed callback of a line that names no job', () => {
  const line = ledgerLine({
    origin: 'recovery',
    outcome: 'failed',
    jobId: null,
    receivedAt: new Date(HOUR).toISOString(),
    context: { customer: 'acme' },
  });
  const content = Buffer.from(`${JSON.stringify(line)}\n`);
  index.apply([{ hour: HOUR, writer: 'w', number: 1, written: HOUR, content }]);

  expect(index.countMissed({ ...ALL, by: 'source' })).toEqual([]);
  expect(index.missedByContext({ ...ALL, by: 'context.customer' })).toEqual({ groups: [], jobs: 0 });
});

it('counts no missed callback of a job that recovery fetched again because it was lost from the store', () => {
  const item = {
    kind: 'transcript.json-v2',
    key: 'jobs/j',
    size: 1,
    sha256: '',
    outcome: 'created',
  } as const;
  const fields = { jobId: 'j', items: [item], context: { customer: 'acme' } };
  const at = (ms: number) => new Date(HOUR + ms).toISOString();
  const recovered = { origin: 'recovery', outcome: 'recovered' } as const;
  const texts = [
    ledgerLine({ ...fields, receivedAt: at(1) }),
    ledgerLine({ ...fields, ...recovered, receivedAt: at(2) }),
    ledgerLine({ ...fields, ...recovered, jobId: 'missed', receivedAt: at(3) }),
  ].map((line) => `${JSON.stringify(line)}\n`);
  const content = Buffer.from(texts.join(''));
  index.apply([{ hour: HOUR, writer: 'w', number: 1, written: HOUR, content }]);

  expect(index.countMissed({ ...ALL, by: 'outcome' })).toMatchObject([
    [expect.stringContaining('recovered'), 1],
  ]);
  expect(index.missedByContext({ ...ALL, by: 'context.customer' }).jobs).toBe(1);
});

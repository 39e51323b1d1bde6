import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createLedgerIndex, type LedgerIndex } from '../../../../src/index/ledger-index.js';
import { WHOLE } from '../../../../src/index/queries/align-period.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';

const HOUR = Date.parse('2026-03-04T12:00:00.000Z');
const ALL = {
  range: { since: HOUR, until: HOUR + 3_600_000 },
  parts: WHOLE,
  limit: 9,
  refusals: [],
  lastSince: HOUR,
};

/** Jobs with a missed callback: all, and by group. */
function missedBy(by: 'source' | 'outcome' | 'context.customer') {
  const { total, groups } = index.summarise({ ...ALL, by });
  return [total.missed, groups?.map(({ value, missed }) => [value, missed])];
}

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

  expect(missedBy('source')).toEqual([0, [['default', 0]]]);
  expect(missedBy('context.customer')).toEqual([0, [['acme', 0]]]);
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

  expect(missedBy('outcome')).toEqual([
    1,
    [
      ['recovered', 1],
      ['stored', 0],
    ],
  ]);
  expect(missedBy('context.customer')).toEqual([1, [['acme', 1]]]);
});

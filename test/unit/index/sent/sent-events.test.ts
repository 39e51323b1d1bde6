import { expect, it } from '@jest/globals';
import type { EventEnd } from '../../../../src/domain/sent-attempt.js';
import { createLedgerIndex } from '../../../../src/index/ledger-index.js';

const HOUR = Date.parse('2026-03-04T12:00:00.000Z');

it('an event that only a replay tried has failed, and one that its sender holds is what became of it there', () => {
  const index = createLedgerIndex(':memory:', 'store');
  const attempt = (event: string, minute: number, ended: EventEnd | null) => ({
    v: 1,
    event,
    jobId: 'job',
    source: 'intake',
    type: 'job.stored',
    at: new Date(HOUR + minute * 60_000).toISOString(),
    status: 500,
    error: null,
    attempt: 1,
    ended,
    durationMs: 1,
    line: null,
  });
  const attempts = [
    attempt('replayed', 1, 'failed'),
    attempt('waiting', 1, null),
    attempt('waiting', 2, 'failed'),
    attempt('expired', 1, 'expired'),
    attempt('expired', 2, 'failed'),
  ];
  const content = Buffer.from(attempts.map((each) => `${JSON.stringify(each)}\n`).join(''));
  index.apply([{ hour: HOUR, writer: 'crm/w', number: 1, written: HOUR, content }]);
  const events = index.findEvents({ subscriber: 'crm', limit: 10 });
  expect(events.map(({ event, outcome }) => `${event}: ${outcome}`).sort()).toEqual([
    'expired: expired',
    'replayed: failed',
    'waiting: waiting',
  ]);
  index.close();
});

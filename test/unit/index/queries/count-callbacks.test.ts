import { describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { TEST_STATUS } from '../../../../src/domain/job.js';
import type { ItemKind } from '../../../../src/domain/kinds.js';
import { createLedgerIndex } from '../../../../src/index/ledger-index.js';
import { HOUR } from '../../../../src/ledger/hours.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';

const NOW = Date.parse('2026-03-04T12:00:00.000Z');
const MINUTE = 60_000;

/** A line of so many minutes ago. */
const line = (minutesAgo: number, fields: Partial<LedgerLine>) => ({
  ...ledgerLine({ receivedAt: new Date(NOW - minutesAgo * MINUTE).toISOString(), ...fields }),
});
const accepted = (minutesAgo: number, jobId: string, source = 'intake') =>
  line(minutesAgo, { source, jobId, outcome: 'stored' });
const refused = (minutesAgo: number, jobId: string | null, reason = 'body-too-large', source = 'intake') =>
  line(minutesAgo, { source, jobId, reason, outcome: 'refused' });
const recovery = (minutesAgo: number, jobId: string, fields: Partial<LedgerLine> = {}) =>
  line(minutesAgo, { source: 'intake', jobId, outcome: 'recovered', origin: 'recovery', ...fields });

const itemOf = (kind: ItemKind) => ({
  kind,
  key: `jobs/${kind}`,
  size: 1,
  sha256: '',
  outcome: 'created' as const,
});

function figuresOf(
  lines: readonly LedgerLine[],
  { since = null as number | null, until = NOW as number | null, scope = null as Set<string> | null } = {},
) {
  const index = createLedgerIndex(':memory:', 'store');
  for (const [at, each] of lines.entries()) {
    const written = Date.parse(each.receivedAt);
    const hour = Math.floor(written / HOUR) * HOUR;
    const content = Buffer.from(`${JSON.stringify(each)}\n`);
    index.apply([{ hour, writer: `w${at}`, number: 1, written, content }]);
  }
  index.saveRange({ since, until });
  const { missed: counted, ...figures } = index.countCallbacks({ now: NOW, scope });
  const { bySource, ...missed } = counted;
  const ofJobs = index.countJobs({ since: figures.daySince, scope }).get(null);
  index.close();
  return { ...figures, missed: { ...missed, ofJobs }, bySource };
}

describe('rejected callbacks of the last hour', () => {
  it('are counted by source and reason, each job once, and requests without a job each', () => {
    const { refused: groups } = figuresOf([
      refused(61, 'old'),
      refused(50, 'a'),
      refused(49, 'a'),
      refused(40, 'b'),
      refused(30, null, 'query-invalid'),
      refused(29, null, 'query-invalid'),
      refused(20, 'a', 'body-too-large', 'other'),
    ]);
    expect(groups).toEqual([
      { source: 'intake', reason: 'body-too-large', count: 2, sinceAccepted: 2, first: NOW - 50 * MINUTE },
      expect.objectContaining({ source: 'intake', reason: 'query-invalid', count: 2 }),
      expect.objectContaining({ source: 'other', reason: 'body-too-large', count: 1 }),
    ]);
  });

  it('do not count once the callback of the job was accepted', () => {
    const { refused: groups } = figuresOf([
      refused(50, 'a', 'draining'),
      refused(50, 'b', 'draining'),
      accepted(49, 'a'),
      refused(48, 'c', 'draining'),
      accepted(48, 'c'),
      accepted(47, 'd'),
      refused(46, 'd', 'draining'),
    ]);
    expect(groups).toMatchObject([{ count: 2, sinceAccepted: 1 }]);
  });

  it('are not settled by test callbacks of doctor, which do not count either', () => {
    const test = { status: TEST_STATUS };
    const figures = figuresOf([
      refused(50, 'a'),
      line(40, { ...test, source: 'intake', jobId: 'doctor-1', outcome: 'noted' }),
      line(40, {
        ...test,
        source: 'intake',
        jobId: 'doctor-2',
        outcome: 'refused',
        reason: 'body-too-large',
      }),
    ]);
    expect(figures.accepted.size).toBe(0);
    expect(figures.refused).toMatchObject([{ count: 1, sinceAccepted: 1 }]);
  });

  it('count all the same when a recovery fetched the results', () => {
    const { refused: groups } = figuresOf([refused(50, 'a'), recovery(40, 'a')]);
    expect(groups).toMatchObject([{ count: 1 }]);
  });

  it('do not count while the service still tries: two minutes where a retry may succeed', () => {
    const of = (minutesAgo: number, reason: string) =>
      figuresOf([refused(minutesAgo, 'a', reason)]).refused.length;
    expect([of(1.99, 'draining'), of(2, 'draining')]).toEqual([0, 1]);
    expect([of(1.99, 'store-unavailable'), of(1.99, 'clock'), of(0, 'body-too-large')]).toEqual([0, 0, 1]);
  });

  it('are told apart by whether any callback of the source was accepted since', () => {
    const { refused: groups, accepted: of } = figuresOf([
      refused(50, 'a'),
      accepted(40, 'x'),
      refused(30, 'b'),
      accepted(20, 'y', 'other'),
    ]);
    expect(groups).toMatchObject([{ count: 2, sinceAccepted: 1 }]);
    expect(of.get('intake')).toEqual({ jobs: 1, requests: 1, lastAt: NOW - 40 * MINUTE });
  });
});

describe('accepted callbacks', () => {
  it('are counted for an hour, and the last one is known for a day', () => {
    const { accepted: of } = figuresOf([
      accepted(26 * 60, 'a', 'old'),
      accepted(200, 'a'),
      accepted(100, 'b'),
      accepted(90, 'c', 'other'),
      accepted(10, 'd', 'other'),
    ]);
    expect(Object.fromEntries(of)).toEqual({
      intake: { jobs: 0, requests: 0, lastAt: NOW - 100 * MINUTE },
      other: { jobs: 1, requests: 1, lastAt: NOW - 10 * MINUTE },
    });
  });
});

describe('missed callbacks of the last day', () => {
  it('include those of jobs without a transcript, which recovery recorded', () => {
    const { missed } = figuresOf([recovery(5, 'a', { outcome: 'noted', status: 'error' })]);
    expect(missed).toMatchObject({ jobs: 1, lastJob: 'a' });
  });

  it('are jobs that recovery fetched, or could not; repairs of operators and imports are none', () => {
    const { missed } = figuresOf([
      recovery(25 * 60, 'before'),
      recovery(90, 'a'),
      recovery(30, 'b', { outcome: 'unrecoverable' }),
      recovery(29, 'b', { outcome: 'failed' }),
      recovery(28, 'c', { outcome: 'conflict' }),
      recovery(20, 'd', { actor: 'alice' }),
      recovery(20, 'e', { origin: 'replay', actor: 'alice' }),
      recovery(20, 'f', { origin: 'import', outcome: 'stored', actor: 'alice' }),
      accepted(100, 'x'),
      accepted(99, 'x'),
      accepted(10, 'y'),
    ]);
    expect(missed).toEqual({ jobs: 2, lastHour: 1, ofJobs: 4, lastJob: 'b' });
  });

  it('are none of jobs whose callback had brought what recovery fetched again, because it was lost from the store', () => {
    const transcript = itemOf('transcript.json-v2');
    const data = itemOf('data');
    const lines = [
      ...['lost', 'partly'].map((job) => ({ ...accepted(90, job), items: [transcript] })),
      { ...accepted(90, 'quarantined'), outcome: 'quarantined' as const },
      recovery(20, 'lost', { items: [transcript] }),
      recovery(20, 'partly', { items: [data] }),
      recovery(20, 'quarantined', { items: [transcript] }),
    ];
    const { missed } = figuresOf(lines);
    expect(missed).toEqual({ jobs: 2, lastHour: 2, ofJobs: 3, lastJob: 'partly' });
    const late = { ...accepted(10, 'late'), items: [transcript] };
    expect(figuresOf([recovery(20, 'late', { items: [transcript] }), late]).missed).toMatchObject({
      jobs: 1,
    });
  });

  it('are counted for each source as well', () => {
    const { bySource } = figuresOf([
      recovery(20, 'a'),
      recovery(90, 'b', { source: 'other' }),
      recovery(20, 'b', { source: 'other' }),
      recovery(30, 'c', { source: 'other' }),
      accepted(20, 'd', 'quiet'),
    ]);
    expect(bySource).toEqual([
      { source: 'intake', jobs: 1, lastHour: 1, lastJob: 'a' },
      { source: 'other', jobs: 2, lastHour: 2, lastJob: 'b' },
    ]);
  });

  it('say how far back the index reaches', () => {
    const since = NOW - 30 * MINUTE;
    const figures = figuresOf([recovery(20, 'b')], { since });
    expect(figures).toMatchObject({ daySince: since, hourSince: since, missed: { jobs: 1 } });
  });

  it('say that nothing was counted before anything was read', () => {
    const figures = figuresOf([], { until: null });
    expect(figures).toMatchObject({ daySince: NOW, hourSince: NOW, missed: { jobs: 0 } });
  });

  it('show a token its own sources', () => {
    const lines = [recovery(20, 'a'), refused(20, 'b'), accepted(20, 'c', 'other')];
    const { missed, refused: groups, accepted: of } = figuresOf(lines, { scope: new Set(['other']) });
    expect([missed.jobs, groups, [...of.keys()]]).toEqual([0, [], ['other']]);
  });
});

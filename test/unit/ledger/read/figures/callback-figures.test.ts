import { describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../../../src/domain/delivery.js';
import { callbackFigures } from '../../../../../src/ledger/read/figures/callback-figures.js';
import { entryOf } from '../../../../../src/ledger/read/log/log-entry.js';
import { createRowPacker } from '../../../../../src/ledger/read/window/ledger-row.js';
import { createRowWindow } from '../../../../../src/ledger/read/window/row-window.js';
import { ledgerLine } from '../../../../support/ledger/ledger-lines.js';

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

function figuresOf(
  lines: readonly LedgerLine[],
  { completeSince = 0, scope = null as Set<string> | null } = {},
) {
  const window = createRowWindow();
  const entries = lines.map((each) => entryOf(each, Date.parse(each.receivedAt)));
  window.add(createRowPacker()(entries));
  return callbackFigures({ window, completeSince, scope, now: NOW });
}

describe('rejected callbacks of the last hour', () => {
  it('are counted by source and reason, each job once, and requests without a job each', async () => {
    const { refused: groups } = await figuresOf([
      refused(61, 'old'),
      refused(50, 'a'),
      refused(49, 'a'),
      refused(40, 'b'),
      refused(30, null, 'query-invalid'),
      refused(29, null, 'query-invalid'),
      refused(20, 'a', 'body-too-large', 'other'),
    ]);
    expect(groups).toEqual([
      expect.objectContaining({ source: 'other', reason: 'body-too-large', count: 1 }),
      expect.objectContaining({ source: 'intake', reason: 'query-invalid', count: 2 }),
      { source: 'intake', reason: 'body-too-large', count: 2, sinceAccepted: 2, first: NOW - 50 * MINUTE },
    ]);
  });

  it('do not count once the callback of the job was accepted', async () => {
    const { refused: groups } = await figuresOf([
      refused(50, 'a', 'draining'),
      refused(50, 'b', 'draining'),
      accepted(49, 'a'),
    ]);
    expect(groups).toMatchObject([{ count: 1 }]);
  });

  it('count all the same when a recovery fetched the results', async () => {
    const { refused: groups } = await figuresOf([refused(50, 'a'), recovery(40, 'a')]);
    expect(groups).toMatchObject([{ count: 1 }]);
  });

  it('do not count while the service still tries: two minutes where a retry may succeed', async () => {
    const of = async (minutesAgo: number, reason: string) =>
      (await figuresOf([refused(minutesAgo, 'a', reason)])).refused.length;
    expect([await of(1.99, 'draining'), await of(2, 'draining')]).toEqual([0, 1]);
    expect([await of(1.99, 'store-unavailable'), await of(0, 'body-too-large')]).toEqual([0, 1]);
  });

  it('are told apart by whether any callback of the source was accepted since', async () => {
    const { refused: groups, accepted: of } = await figuresOf([
      refused(50, 'a'),
      accepted(40, 'x'),
      refused(30, 'b'),
      accepted(20, 'y', 'other'),
    ]);
    expect(groups).toMatchObject([{ count: 2, sinceAccepted: 1 }]);
    expect(of.get('intake')).toEqual({ jobs: 1, requests: 1, lastAt: NOW - 40 * MINUTE });
  });
});

describe('missed callbacks of the last day', () => {
  it('include those of jobs without a transcript, which recovery recorded', async () => {
    const { missed } = await figuresOf([recovery(5, 'a', { outcome: 'noted', status: 'error' })]);
    expect(missed).toMatchObject({ jobs: 1, lastJob: 'a' });
  });

  it('are jobs that recovery fetched, or could not; repairs of operators and imports are none', async () => {
    const { missed } = await figuresOf([
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

  it('say how far back memory reaches', async () => {
    const completeSince = NOW - 30 * MINUTE;
    const figures = await figuresOf([recovery(40, 'a'), recovery(20, 'b'), refused(45, 'c')], {
      completeSince,
    });
    expect(figures).toMatchObject({ daySince: completeSince, hourSince: completeSince, missed: { jobs: 1 } });
    expect(figures.refused).toEqual([]);
  });

  it('say that nothing was counted before anything was read', async () => {
    const figures = await figuresOf([], { completeSince: Number.POSITIVE_INFINITY });
    expect(figures).toMatchObject({ daySince: NOW, hourSince: NOW, missed: { jobs: 0 } });
  });

  it('show a token its own sources', async () => {
    const lines = [recovery(20, 'a'), refused(20, 'b'), accepted(20, 'c', 'other')];
    const { missed, refused: groups, accepted: of } = await figuresOf(lines, { scope: new Set(['other']) });
    expect([missed.jobs, groups, [...of.keys()]]).toEqual([0, [], ['other']]);
  });
});

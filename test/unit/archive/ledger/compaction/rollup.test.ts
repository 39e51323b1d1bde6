import { describe, expect, it } from '@jest/globals';
import { buildRollup } from '../../../../../src/archive/ledger/compaction/build-rollup.js';
import {
  parseDailyRollup,
  parseRollup,
  readRollup,
  readRollupFigures,
} from '../../../../../src/archive/ledger/compaction/parse-rollup.js';
import type { Rollup, RollupHead } from '../../../../../src/archive/ledger/compaction/rollup.js';
import { sumRollups } from '../../../../../src/archive/ledger/compaction/sum-rollups.js';
import type { LedgerLine } from '../../../../../src/domain/delivery.js';
import { createDurationHistogram } from '../../../../../src/domain/duration-histogram.js';
import { ledgerLine } from '../../../../support/ledger/ledger-lines.js';
import { createMemoryStore } from '../../../../support/store/memory-store.js';

const HEAD: RollupHead = {
  hour: 'dt=2026-03-04/hour=05/',
  segments: ['01A-r.ndjson'],
  parquet: { key: 'ledger-parquet/dt=2026-03-04/hour=05/0001.parquet', bytes: 100 },
  broken: 1,
  newer: 2,
};

function rollupOf(lines: readonly LedgerLine[], head: Partial<RollupHead> = {}): Rollup {
  const builder = buildRollup();
  for (const line of lines) builder.add(line);
  return builder.finish({ ...HEAD, ...head });
}

const at = (minute: number, overrides: Partial<LedgerLine> = {}) =>
  ledgerLine({ receivedAt: `2026-03-04T05:${String(minute).padStart(2, '0')}:00.000Z`, ...overrides });

const openJobs = ({ attention }: Rollup) => attention.map(({ line }) => [line.jobId, line.outcome]);

describe('the figures of a rollup', () => {
  it('are by ten minutes, and by source, region, status, origin and outcome', () => {
    const names = {
      source: 'a',
      region: 'eu1',
      status: 'success',
      origin: 'callback',
      outcome: 'stored',
    } as const;
    const rollup = rollupOf([
      at(1, { ...names, bytes: 10, durationMs: 5 }),
      at(9, { ...names, bytes: 20, durationMs: 7 }),
      at(9, { ...names, region: null, bytes: 3 }),
      at(31, { ...names, bytes: 4 }),
    ]);

    expect(rollup).toMatchObject({ ...HEAD, v: 1, rows: 4 });
    expect(rollup.firstReceivedAt).toBe('2026-03-04T05:01:00.000Z');
    expect(rollup.lastReceivedAt).toBe('2026-03-04T05:31:00.000Z');
    expect(rollup.slots.map(({ minute, groups }) => [minute, groups.length])).toEqual([
      [0, 2],
      [30, 1],
    ]);
    expect(rollup.slots[0]?.groups[0]).toMatchObject({ ...names, lines: 2, bytes: 30, maxDuration: 7 });
  });

  it('have the durations of callbacks only, with the percentiles of the histogram', () => {
    const durations = [1, 10, 100, 1000];
    const lines = durations.map((durationMs) => at(1, { durationMs }));
    const rollup = rollupOf([...lines, at(1, { origin: 'recovery', durationMs: 99_999 })]);
    const expected = createDurationHistogram();
    for (const duration of durations) expected.add(duration);

    const read = createDurationHistogram();
    for (const group of rollup.slots.flatMap(({ groups }) => groups)) {
      const counts = Object.entries(group.durations).map(
        ([bucket, count]) => [Number(bucket), count] as const,
      );
      read.addCounts(counts, group.maxDuration);
    }
    expect(read.percentiles()).toEqual(expected.percentiles());
  });

  it('count names beyond the first hundred as other', () => {
    const rollup = rollupOf(Array.from({ length: 150 }, (_, index) => at(1, { status: `status-${index}` })));

    const groups = rollup.slots.flatMap((slot) => slot.groups);
    expect(groups).toHaveLength(101);
    expect(groups.find(({ status }) => status === 'other')?.lines).toBe(50);
  });

  it('stay bounded however the names combine', () => {
    const lines = Array.from({ length: 10_000 }, (_, index) =>
      at(1, { status: `status-${index % 100}`, region: `region-${Math.floor(index / 100)}` }),
    );

    const groups = rollupOf(lines).slots.flatMap((slot) => slot.groups);
    expect(groups.length).toBeLessThanOrEqual(2001);
    expect(groups.reduce((sum, group) => sum + group.lines, 0)).toBe(10_000);
  });

  it('know when callbacks were last accepted', () => {
    const { lastAccepted } = rollupOf([
      at(1, { source: 'a', region: 'eu1', credential: 'old' }),
      at(2, { source: 'a', region: 'us1', credential: 'new' }),
      at(3, { source: 'a', outcome: 'refused' }),
      at(4, { source: 'b', origin: 'recovery' }),
    ]);

    expect(lastAccepted).toEqual({
      bySource: { a: '2026-03-04T05:02:00.000Z' },
      byRegion: { eu1: '2026-03-04T05:01:00.000Z', us1: '2026-03-04T05:02:00.000Z' },
      byCredential: { 'a/old': '2026-03-04T05:01:00.000Z', 'a/new': '2026-03-04T05:02:00.000Z' },
    });
  });

  it('survive lines that hold other types than they should', () => {
    const odd = {
      source: 5,
      bytes: 'x',
      durationMs: null,
      jobId: 7,
      credential: {},
    } as unknown as LedgerLine;
    const rollup = rollupOf([at(1, odd), at(2, { ...odd, outcome: 'failed' })]);

    expect(rollup.slots[0]?.groups[0]).toMatchObject({ source: null, bytes: 0, lines: 1 });
    expect(parseRollup(rollup)).toEqual(rollup);
  });
});

describe('the attention lines of a rollup', () => {
  it('are the failures that no later line of the job settles', () => {
    const rollup = rollupOf([
      at(1, { jobId: 'settled', outcome: 'failed' }),
      at(2, { jobId: 'settled', outcome: 'stored' }),
      at(3, { jobId: 'open', outcome: 'stored' }),
      at(4, { jobId: 'open', outcome: 'unrecoverable' }),
      at(5, { jobId: 'rejected', outcome: 'refused' }),
      at(6, { jobId: 'rejected', outcome: 'noted' }),
      at(7, { jobId: 'failed', outcome: 'failed' }),
      at(8, { jobId: 'failed', outcome: 'noted' }),
      at(9, { jobId: null, outcome: 'refused' }),
    ]);

    expect(openJobs(rollup)).toEqual([
      ['open', 'unrecoverable'],
      ['failed', 'failed'],
    ]);
  });

  it('keep a conflict that only an operator can settle, beside a failure', () => {
    const lines = [
      at(1, { jobId: 'job', outcome: 'conflict' }),
      at(2, { jobId: 'job', outcome: 'failed' }),
      at(3, { jobId: 'job', outcome: 'stored' }),
    ];

    expect(openJobs(rollupOf(lines))).toEqual([['job', 'conflict']]);
    expect(openJobs(rollupOf([...lines, at(4, { jobId: 'job', outcome: 'acknowledged' })]))).toEqual([]);
  });

  it('name the newest failure of a job, and when its first one was', () => {
    const rollup = rollupOf([
      at(1, { jobId: 'job', outcome: 'refused' }),
      at(2, { jobId: 'job', outcome: 'refused' }),
    ]);

    expect(rollup.attention).toMatchObject([
      { first: '2026-03-04T05:01:00.000Z', line: { receivedAt: '2026-03-04T05:02:00.000Z' } },
    ]);
  });

  it('leave out a failure that a line of the same instant settles', () => {
    const lines = [at(1, { jobId: 'job', outcome: 'stored' }), at(1, { jobId: 'job', outcome: 'failed' })];

    expect(openJobs(rollupOf(lines))).toEqual([]);
  });

  it('are bounded, keep what is no rejection, and count the others', () => {
    const rejected = Array.from({ length: 6000 }, (_, index) =>
      at(1, { jobId: `r${index}`, outcome: 'refused' }),
    );
    const rollup = rollupOf([...rejected, at(2, { jobId: 'lost', outcome: 'unrecoverable' })]);

    expect(rollup.attention).toHaveLength(1000);
    expect(rollup.attentionOmitted).toBe(5001);
    expect(openJobs(rollup).at(-1)).toEqual(['lost', 'unrecoverable']);
    expect(rollup.repairs).toEqual([]);
  });

  it('list the lines of rare settling outcomes, in bounded number', () => {
    const rollup = rollupOf([
      at(1, { jobId: 'a', outcome: 'stored' }),
      at(2, { jobId: 'b', deliveryId: 'd', outcome: 'recovered' }),
    ]);
    expect(rollup.repairs).toEqual([
      { jobId: 'b', deliveryId: 'd', receivedAt: '2026-03-04T05:02:00.000Z', outcome: 'recovered' },
    ]);

    const many = rollupOf(Array.from({ length: 5010 }, () => at(1, { outcome: 'recovered' })));
    expect([many.repairs.length, many.repairsOmitted]).toEqual([5000, 10]);
  });
});

describe('a rollup as read from the store', () => {
  const rollup = rollupOf([at(1), at(2, { outcome: 'failed' }), at(3, { outcome: 'recovered' })]);

  it('is the one that was written', async () => {
    const store = createMemoryStore();
    const body = Buffer.from(JSON.stringify(rollup));
    await store.create('rollups/dt=2026-03-04/hour=05/0001.json', body, {
      contentType: 'application/json',
      metadata: {},
    });

    expect(await readRollup(store, 'rollups/dt=2026-03-04/hour=05/0001.json')).toEqual(rollup);
    expect(await readRollup(store, 'rollups/dt=2026-03-04/hour=05/0002.json')).toBeNull();
  });

  it.each([
    ['three names', 3, 0, 1],
    ['20,000 names', 20_000, 0, 1],
    ['more failures than the beginning holds', 20_000, 500, 2],
  ])('gives its figures without the names of its segments: %s', async (_, names, failures, reads) => {
    const store = createMemoryStore();
    const key = 'rollups/dt=2026-03-04/hour=05/0001.json';
    const segments = Array.from({ length: names }, (_each, index) => `${index}`.padStart(40, '0'));
    const long = { outcome: 'failed', reason: 'x'.repeat(1000), segments: ['a'] };
    const lines = Array.from({ length: failures + 1 }, (_each, index) => at(index % 60, long));
    const { segments: _none, ...figures } = rollupOf(lines);
    store.put(key, JSON.stringify({ ...figures, segments }));

    expect(await readRollupFigures(store, key)).toMatchObject(figures);
    expect(store.calls).toHaveLength(reads);
    store.put(key, JSON.stringify({ ...figures, segments }).slice(0, -2));
    if (names < 100) expect(await readRollupFigures(store, key)).toBeNull();
  });

  it.each<[string, unknown]>([
    ['nothing', null],
    ['an array', []],
    ['another version', { ...rollup, v: 2 }],
    ['a missing list', { ...rollup, segments: undefined }],
    ['a count that is no number', { ...rollup, rows: '3' }],
    ['a negative count', { ...rollup, broken: -1 }],
    ['a group without names', { ...rollup, slots: [{ minute: 0, groups: [{}] }] }],
    ['an unknown minute', { ...rollup, slots: [{ minute: 60, groups: [] }] }],
    ['attention without a line', { ...rollup, attention: [{ first: rollup.firstReceivedAt }] }],
    ['an instant that is none', { ...rollup, lastReceivedAt: 'yesterday' }],
  ])('is null for %s', (_, value) => {
    expect(parseRollup(value)).toBeNull();
  });
});

describe('a daily rollup', () => {
  it('is the sum of its rollups, by hour', () => {
    const failing = at(1, { outcome: 'failed' });
    const one = rollupOf([at(1, { durationMs: 5 }), at(40, { durationMs: 8 })]);
    const two = rollupOf([at(20, { durationMs: 3, source: 'late' })]);
    const next = rollupOf([failing], { hour: 'dt=2026-03-04/hour=06/' });
    const daily = sumRollups('2026-03-04', [
      { key: 'a', rollup: one },
      { key: 'b', rollup: two },
      { key: 'c', rollup: next },
    ]);

    expect(daily).toMatchObject({ v: 1, day: '2026-03-04', covers: ['a', 'b', 'c'], noteworthy: ['c'] });
    expect(daily).toMatchObject({ rows: 4, broken: 3, newer: 6 });
    expect([daily.firstReceivedAt, daily.lastReceivedAt]).toEqual([
      '2026-03-04T05:01:00.000Z',
      '2026-03-04T05:40:00.000Z',
    ]);
    expect(daily.slots.map(({ hour, groups }) => [hour, groups.map(({ lines }) => lines)])).toEqual([
      [5, [2, 1]],
      [6, [1]],
    ]);
    expect(daily.slots[0]?.groups[0]?.maxDuration).toBe(8);
    expect(daily.lastAccepted.bySource).toEqual({
      default: '2026-03-04T05:40:00.000Z',
      late: '2026-03-04T05:20:00.000Z',
    });
    expect(parseDailyRollup(JSON.parse(JSON.stringify(daily)))).toEqual(daily);
    expect(parseDailyRollup({ ...daily, slots: [{ hour: 24, groups: [] }] })).toBeNull();
  });
});

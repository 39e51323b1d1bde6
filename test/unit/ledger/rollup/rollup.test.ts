import { describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { buildRollup } from '../../../../src/ledger/rollup/build-rollup.js';
import { createDurationHistogram } from '../../../../src/ledger/rollup/duration-histogram.js';
import { readRollup } from '../../../../src/ledger/rollup/read-rollup.js';
import type { Rollup, RollupHead } from '../../../../src/ledger/rollup/rollup.js';
import { encodeRollup } from '../../../../src/ledger/rollup/rollup-document.js';
import { sumRollups } from '../../../../src/ledger/rollup/sum-rollups.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const HEAD: RollupHead = {
  hour: 'dt=2026-03-04/hour=05/',
  n: 1,
  files: 1,
  previous: 'dt=2026-03-04/hour=04/',
  writers: { r: [[1, 9]] },
  parquet: {
    key: 'ledger-parquet/dt=2026-03-04/hour=05/0001.parquet',
    ...{ bytes: 100, filters: 20, filtersCrc: 5, footer: 50, footerCrc: 7, groups: [] },
  },
  broken: 1,
  newer: 2,
};

function rollupOf(lines: readonly LedgerLine[], head: Partial<RollupHead> = {}): Rollup {
  const builder = buildRollup();
  for (const line of lines) builder.add(line, Date.parse(line.receivedAt));
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
    expect(rollup.first).toBe('2026-03-04T05:01:00.000Z');
    expect(rollup.last).toBe('2026-03-04T05:31:00.000Z');
    expect(rollup.slots.map(({ start, groups }) => [start, groups.length])).toEqual([
      [Date.parse('2026-03-04T05:00:00Z'), 2],
      [Date.parse('2026-03-04T05:30:00Z'), 1],
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
      const counts = Object.entries(group.durations).flat().map(Number);
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
      bySource: { a: Date.parse('2026-03-04T05:02:00Z') },
      byRegion: { eu1: Date.parse('2026-03-04T05:01:00Z'), us1: Date.parse('2026-03-04T05:02:00Z') },
      byCredential: {
        'a/old': Date.parse('2026-03-04T05:01:00Z'),
        'a/new': Date.parse('2026-03-04T05:02:00Z'),
      },
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

  it('are none for a body that was not released, or was dismissed', () => {
    const outcomes = ['quarantined', 'release-failed', 'dismissed'];
    const lines = outcomes.map((outcome, minute) => at(minute, { jobId: 'job', outcome }));

    expect(openJobs(rollupOf(lines))).toEqual([]);
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

  it('leave out a rejection that was written after the success of its retry', () => {
    const lines = [at(3, { jobId: 'job', outcome: 'stored' }), at(1, { jobId: 'job', outcome: 'refused' })];

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
  });
});

describe('a rollup as read from the store', () => {
  const rollup = rollupOf([at(1), at(2, { outcome: 'failed' }), at(3, { outcome: 'recovered' })]);

  const KEY = 'rollups/dt=2026-03-04/hour=05/0001.json';
  const document = encodeRollup(rollup).toString();
  async function readAs(text: string, key = KEY): Promise<Rollup | null> {
    const store = createMemoryStore();
    store.put(key, text);
    return readRollup(store, key);
  }

  it('is the one that was written', async () => {
    expect(await readAs(document)).toEqual(rollup);
    expect(await readRollup(createMemoryStore(), KEY)).toBeNull();
  });

  it.each([
    ['a copy of another file', document, 'rollups/dt=2026-03-04/hour=05/0002.json'],
    ['a copy of another hour', document, 'rollups/dt=2026-03-04/hour=06/0001.json'],
    ['a copy of a day', encodeRollup(sumRollups('2026-03-04', [rollup])).toString(), KEY],
    ['another version', encodeRollup({ ...rollup, v: 2 } as unknown as Rollup).toString(), KEY],
    ['no CRC', JSON.stringify(rollup), KEY],
    ['no text', '', KEY],
  ])('is null for %s', async (_, text, key) => {
    expect(await readAs(text, key)).toBeNull();
  });

  it('is null wherever it is damaged or ends', async () => {
    for (let index = 0; index < document.length; index += 5) {
      const other = document[index] === '0' ? '1' : '0';
      expect(await readAs(document.slice(0, index) + other + document.slice(index + 1))).toBeNull();
      expect(await readAs(document.slice(0, index))).toBeNull();
    }
  });
});

describe('a daily rollup', () => {
  const ofHour = (hour: number, lines: readonly LedgerLine[]) =>
    rollupOf(
      lines.map((line) => ({
        ...line,
        receivedAt: line.receivedAt.replace('T05', `T${String(hour).padStart(2, '0')}`),
      })),
    );

  it('is the sum of its rollups, by hour', () => {
    const daily = sumRollups('2026-03-04', [
      ofHour(5, [at(1, { durationMs: 5 }), at(40, { durationMs: 8, status: 'late' })]),
      ofHour(5, [at(20, { durationMs: 3, source: 'late' })]),
      ofHour(6, [at(1, { outcome: 'failed' })]),
    ]);

    expect(daily.slots.map(({ start, groups }) => [start, groups.map(({ lines }) => lines)])).toEqual([
      [Date.parse('2026-03-04T05:00:00Z'), [2, 1]],
      [Date.parse('2026-03-04T06:00:00Z'), [1]],
    ]);
    expect(daily.slots[0]?.groups[0]).toMatchObject({ maxDuration: 8, status: null });
    expect(daily.lastAccepted.bySource).toEqual({
      default: Date.parse('2026-03-04T06:01:00Z'),
      late: Date.parse('2026-03-04T05:20:00Z'),
    });
  });

  it('tells the sources of every hour apart, however many groups a day has', () => {
    const lines = Array.from({ length: 300 }, (_, index) =>
      at(1, { source: `source-${index % 30}`, region: `region-${index % 10}`, status: `${index % 100}` }),
    );
    const hours = Array.from({ length: 24 }, (_, hour) => ofHour(hour, lines));

    for (const { groups } of sumRollups('2026-03-04', hours).slots) expect(groups).toHaveLength(30);
  });
});

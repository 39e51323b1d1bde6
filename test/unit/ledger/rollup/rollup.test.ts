import { describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { createDurationHistogram } from '../../../../src/domain/duration-histogram.js';
import { buildRollup } from '../../../../src/ledger/rollup/build-rollup.js';
import { parseDailyRollup } from '../../../../src/ledger/rollup/parse-rollup.js';
import { readDailyCovers, readDailyFigures, readRollup } from '../../../../src/ledger/rollup/read-rollup.js';
import type { DailyRollup, Rollup, RollupHead } from '../../../../src/ledger/rollup/rollup.js';
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
    expect([daily.first, daily.last]).toEqual(['2026-03-04T05:01:00.000Z', '2026-03-04T05:40:00.000Z']);
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

  it('has the same figures by half day, source and origin', () => {
    const rollups = Array.from({ length: 24 }, (_, hour) => {
      const folder = `dt=2026-03-04/hour=${String(hour).padStart(2, '0')}/`;
      const lines = [
        at(1, { source: 'a', region: 'eu1', durationMs: hour, bytes: 1 }),
        at(2, { source: hour % 2 === 0 ? 'a' : 'b', region: null, outcome: 'duplicate', bytes: 2 }),
        at(30, { source: null, origin: 'admin', outcome: 'read', bytes: 4 }),
        at(50, { source: 'b', origin: 'replay', region: 'us1', durationMs: 9999, bytes: 8 }),
      ];
      return { key: folder, rollup: rollupOf(lines, { hour: folder }) };
    });
    const { halfDays, slots } = sumRollups('2026-03-04', rollups);

    expect(halfDays?.map(({ hour }) => hour)).toEqual([0, 12]);
    for (const { hour: first, sources } of halfDays ?? []) {
      expect(sources.map(({ source, origin }) => [source, origin])).toEqual([
        ['a', 'callback'],
        [null, 'admin'],
        ['b', 'replay'],
        ['b', 'callback'],
      ]);
      for (const { source, origin, ...figures } of sources) {
        const groups = slots
          .filter(({ hour }) => hour >= first && hour < first + 12)
          .flatMap((slot) => slot.groups)
          .filter((group) => group.source === source && group.origin === origin);
        const durations = groups.flatMap((group) => Object.entries(group.durations));
        expect(figures).toEqual({
          lines: sum(groups.map(({ lines }) => lines)),
          bytes: sum(groups.map(({ bytes }) => bytes)),
          outcomes: sumBy(groups.map(({ outcome, lines }) => [outcome, lines])),
          regions: sumBy(groups.map(({ region, lines }) => [region ?? 'none', lines])),
          durations: sumBy(durations),
          maxDuration: Math.max(...groups.map(({ maxDuration }) => maxDuration)),
        });
      }
    }
  });

  it('tells sources apart by half day, where the hours have more groups than it holds', () => {
    const lines = Array.from({ length: 300 }, (_, index) =>
      at(1, { source: `source-${index % 30}`, region: `region-${index % 10}`, status: `${index % 100}` }),
    );
    const rollups = Array.from({ length: 24 }, (_, hour) => {
      const folder = `dt=2026-03-04/hour=${String(hour).padStart(2, '0')}/`;
      return { key: folder, rollup: rollupOf(lines, { hour: folder }) };
    });
    const { halfDays, slots } = sumRollups('2026-03-04', rollups);

    expect(slots.at(-1)?.groups.map(({ source }) => source)).toEqual(['other']);
    expect(halfDays?.at(-1)?.sources.map(({ lines: count }) => count)).toEqual(Array(30).fill(120));
  });

  it('has half days of bounded size, whatever the names are', () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => {
      const origin = `origin-${Math.floor(index / 100)}` as LedgerLine['origin'];
      return at(1, { source: `source-${index % 100}`, origin, durationMs: 1 });
    });
    const rollups = [0, 1, 2, 3, 4, 5].map((part) => ({
      key: `${part}`,
      rollup: rollupOf(lines.slice(part * 300, (part + 1) * 300)),
    }));
    const sources = sumRollups('2026-03-04', rollups).halfDays?.[0]?.sources ?? [];

    expect(sources).toHaveLength(501);
    expect(sources.at(-1)).toMatchObject({ source: 'other', origin: 'other', lines: 1300 });
  });
});

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

function sumBy(counts: readonly (readonly [string, number])[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, count] of counts) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

describe('a daily rollup as read from the store', () => {
  const KEY = 'rollups-daily/dt=2026-03-04/0001.json';
  const busy = Array.from({ length: 1000 }, (_, index) =>
    at(index % 60, { source: 'a', region: `r${index % 7}`, status: `${index % 100}`, durationMs: index }),
  );
  const keys = (number: number) => Array.from({ length: number }, (_, n) => `rollups/${n}`.padEnd(42, '0'));
  function dailyOf(files: number, sources = 1) {
    const more = Array.from({ length: sources - 1 }, (_, n) =>
      busy.map((line) => ({ ...line, source: `s${n}` })),
    );
    const rollups = [busy, ...more].map((lines) => rollupOf(lines));
    const daily = sumRollups(
      '2026-03-04',
      rollups.map((rollup, n) => ({ key: `${n}`, rollup })),
    );
    return { ...daily, covers: keys(files), noteworthy: keys(1) };
  }

  it.each([
    ['the half days of a busy day, its beginning', dailyOf(24), 1, false],
    ['those of a day of many files', dailyOf(2000), 1, false],
    ['all of a quiet day', { ...dailyOf(24), slots: [] }, 1, true],
    ['those of a day of many sources', dailyOf(24, 60), 2, false],
  ])('gives %s', async (_, daily, reads, whole) => {
    const store = createMemoryStore();
    store.put(KEY, JSON.stringify(daily));
    const { halfDays, lastAccepted, slots } = daily as DailyRollup;

    const read = await readDailyFigures(store, KEY);
    expect(read).toMatchObject({ day: '2026-03-04', lastAccepted });
    expect(read?.halfDays).toEqual(halfDays);
    expect(read && 'slots' in read ? read.slots : null).toEqual(whole ? slots : null);
    expect(store.calls).toHaveLength(reads);
  });

  it.each([
    ['of a busy day', dailyOf(24), 1],
    ['of a day of many files', dailyOf(2000), 2],
  ])('says what it covers: one %s', async (_, daily, reads) => {
    const store = createMemoryStore();
    store.put(KEY, JSON.stringify(daily));

    expect(await readDailyCovers(store, KEY)).toMatchObject({
      covers: daily.covers,
      noteworthy: daily.noteworthy,
    });
    expect(store.calls).toHaveLength(reads);
  });

  it.each([
    ['missing', null],
    ['of another version', { ...dailyOf(24), v: 2 }],
    ['without its day', { ...dailyOf(24), day: undefined }],
    ['of half days without sources', { ...dailyOf(24), halfDays: [{ hour: 0 }] }],
    ['of a count that is no number', { ...dailyOf(24), halfDays: [{ hour: 0, sources: [{ lines: '1' }] }] }],
    ['cut', JSON.stringify(dailyOf(24)).slice(0, 20_000)],
  ])('is null when it is %s', async (_, value) => {
    const store = createMemoryStore();
    if (value !== null) store.put(KEY, typeof value === 'string' ? value : JSON.stringify(value));

    expect(await readDailyFigures(store, KEY)).toBeNull();
    if (value === null || typeof value === 'string' || value.v === 2)
      expect(await readDailyCovers(store, KEY)).toBeNull();
  });
});

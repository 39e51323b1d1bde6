import { describe, expect, it } from '@jest/globals';
import { pageModule } from '../../../../../support/dashboard/page-module.js';

const { overviewCharts } = pageModule('views/overview/charts-section');

/** A period of which the index has everything. */
const WHOLE = {
  ...{ since: '2026-11-20T10:10:00.000Z', until: '2026-11-20T10:40:00.000Z' },
  index: { since: null, until: '2026-11-20T10:40:00.000Z', missing: [] },
};
const verdict = { unseen: [], issues: [] };
const NONE_OPEN = { oldestOpen: null, failing: {}, verdict };

it('draws regions that the configuration adds behind the documented ones, in colours of their own', () => {
  const regions = { us1: 1, none: 2, 'eu-north': 3, eu3: 4, eu1: 5 };
  const total = { outcomes: {}, regions, lines: 0, bytes: 0 };
  const bucket = { start: '2026-11-20T10:00:00.000Z', duration: null, ...total };
  const charts = overviewCharts({ buckets: [bucket], total, ...WHOLE }, NONE_OPEN);
  const { series } = charts.find(({ id }: { id: string }) => id === 'regions');
  expect(series.map(({ name, colour, values }: Record<string, unknown>) => [name, colour, values])).toEqual([
    ['eu1', 'eu1', [5]],
    ['us1', 'us1', [1]],
    ['eu-north', 'region-6', [3]],
    ['eu3', 'region-7', [4]],
    ['none', 'none', [2]],
  ]);
});

describe('the charts of the overview', () => {
  const bucketAt = (
    minute: number,
    outcomes: Record<string, number>,
    callbacks: number,
    refused: number,
  ) => ({
    ...{ start: `2026-11-20T10:${minute}:00.000Z`, bytes: 0, duration: null, regions: {}, outcomes },
    ...{ callbacks, refused, missed: 0 },
  });
  const summary = {
    buckets: [bucketAt(10, { stored: 6, noted: 1, refused: 1 }, 8, 1), bucketAt(25, { recovered: 3 }, 0, 0)],
    total: {
      ...{ callbacks: 8, refused: 1, missed: 0 },
      outcomes: { stored: 6, noted: 1, refused: 1, recovered: 3 },
      regions: {},
      duration: null,
      lines: 11,
      bytes: 0,
    },
    ...WHOLE,
  };
  const chart = (id: string, health: object = NONE_OPEN) =>
    overviewCharts(summary, health).find((one: { id: string }) => one.id === id);

  it('are rate, duration, share not answered 2xx and oldest open job; the others are folded', () => {
    const all = overviewCharts(summary, NONE_OPEN).map(({ id, isMain }: { id: string; isMain: boolean }) => [
      id,
      isMain,
    ]);
    expect(all).toEqual([
      ...['outcomes', 'latency', 'share'].map((id) => [id, true]),
      ...['regions', 'volume'].map((id) => [id, false]),
      ['oldest', true],
    ]);
    expect(chart('outcomes').title).toBe('Deliveries per 15 min');
  });

  it('take the share from callbacks alone, and have none without callbacks', () => {
    const { series, show } = chart('share');
    expect(series[0].values).toEqual([12.5, null]);
    expect([show(12.5), show(0.26), show(5)]).toEqual(['13 %', '0.3 %', '5 %']);
    expect(chart('share').sum).toBe('13 %');
  });

  it('do not say that every callback was answered 2xx where refused ones could not be counted', () => {
    const total = {
      ...summary.total,
      callbacks: 7,
      refused: 0,
      duration: { p50: 1, p95: 1, p99: 1, max: 1 },
    };
    const of = (unrecorded: number | null) =>
      overviewCharts({ ...summary, total, unrecorded }, NONE_OPEN).find(
        ({ id }: { id: string }) => id === 'share',
      );
    expect(of(0)).toMatchObject({ sum: '0 %', empty: 'Every callback in this window was answered 2xx.' });
    expect(of(null)).toMatchObject({
      sum: null,
      empty: expect.stringContaining('which alone could be counted'),
    });
  });

  it('show what was refused without a line, and what was expected and did not come: an outage is no quiet hour', () => {
    const [first, second] = summary.buckets;
    const outage = {
      ...summary,
      buckets: [first, { ...second, callbacks: 4, refused: 4, missed: 5 }],
      total: { ...summary.total, callbacks: 12, refused: 5, missed: 5 },
    };
    const { series } = overviewCharts(outage, NONE_OPEN).find(({ id }: { id: string }) => id === 'outcomes');
    const byName = Object.fromEntries(
      series.map(({ name, values }: { name: string; values: number[] }) => [name, values]),
    );
    expect([byName.unrecorded, byName.missed, byName.refused]).toEqual([
      [0, 4],
      [0, 5],
      [1, 0],
    ]);
    expect(chart('outcomes').series.map(({ name }: { name: string }) => name)).not.toContain('missed');
    const colours = series.map(({ colour }: { colour: string }) => colour);
    expect(new Set(colours).size).toBe(colours.length);
  });

  it('lead from each stretch to its deliveries', () => {
    const [{ linkTo }] = overviewCharts(summary, NONE_OPEN);
    expect([0, 1].map((bucket) => decodeURIComponent(linkTo(bucket)))).toEqual([
      '#/deliveries?since=2026-11-20T10:10:00.000Z&until=2026-11-20T10:25:00.000Z',
      '#/deliveries?since=2026-11-20T10:25:00.000Z',
    ]);
  });

  it('show how old the oldest open job was, from when it is known', () => {
    const oldestOpen = { jobId: 'j', since: '2026-11-20T10:30:00.000Z', retentionEndsAt: '' };
    const { series, show } = chart('oldest', { oldestOpen, failing: { failed: 1 }, verdict });
    expect(series[0].values).toEqual([null, 600_000]);
    expect(show(600_000)).toBe('10 min');
  });

  it('say that no job is open only when that is known', () => {
    expect(chart('oldest').empty).toBe('No job is open.');
    expect(chart('oldest', { ...NONE_OPEN, failing: null }).empty).toMatch(/^Unknown/);
  });

  it.each([
    { unseen: ['deliveries'], issues: [] },
    { unseen: [], issues: [{ topic: 'ledger' }] },
  ])('claim no more of open jobs than was read: %j', (partly) => {
    const oldestOpen = { jobId: 'j', since: '2026-11-20T10:30:00.000Z', retentionEndsAt: '' };
    const { empty } = chart('oldest', { ...NONE_OPEN, verdict: partly });
    expect(empty).toBe('No open job was found; not every delivery was read.');
    // What the index lacks stands in the banner, once.
    const { sum } = chart('oldest', { oldestOpen, failing: { failed: 1 }, verdict: partly });
    expect(sum).toBe(chart('oldest', { ...NONE_OPEN, oldestOpen, failing: { failed: 1 } }).sum);
  });
});

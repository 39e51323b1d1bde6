import { describe, expect, it } from '@jest/globals';
import { pageModule } from '../../../../../support/dashboard/page-module.js';

const { overviewCharts } = pageModule('views/overview/charts-section');

/** A period of which the index has everything. */
const WHOLE = {
  since: '2026-11-20T10:10:00.000Z',
  until: '2026-11-20T10:40:00.000Z',
  index: { since: null, until: '2026-11-20T10:40:00.000Z', missing: [] },
};
describe('the charts of the overview', () => {
  const bucketAt = (
    minute: number,
    outcomes: Record<string, number>,
    callbacks: number,
    refused: number,
  ) => ({
    start: `2026-11-20T10:${minute}:00.000Z`,
    bytes: 0,
    duration: null,
    outcomes,
    callbacks,
    refused,
    missed: 0,
  });
  const summary = {
    buckets: [bucketAt(10, { stored: 6, noted: 1, refused: 1 }, 8, 1), bucketAt(25, { recovered: 3 }, 0, 0)],
    total: {
      callbacks: 8,
      refused: 1,
      missed: 0,
      outcomes: { stored: 6, noted: 1, refused: 1, recovered: 3 },
      duration: null,
      lines: 11,
      bytes: 0,
    },
    ...WHOLE,
  };
  const chart = (id: string) => overviewCharts(summary).find((one: { id: string }) => one.id === id);

  it('are rate, duration and share not answered 2xx', () => {
    expect(overviewCharts(summary).map(({ id }: { id: string }) => id)).toEqual([
      'outcomes',
      'latency',
      'share',
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
      overviewCharts({ ...summary, total, unrecorded }).find(({ id }: { id: string }) => id === 'share');
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
    const { series } = overviewCharts(outage).find(({ id }: { id: string }) => id === 'outcomes');
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
    const [{ linkTo }] = overviewCharts(summary);
    expect([0, 1].map((bucket) => decodeURIComponent(linkTo(bucket)))).toEqual([
      '#/deliveries?since=2026-11-20T10:10:00.000Z&until=2026-11-20T10:25:00.000Z',
      '#/deliveries?since=2026-11-20T10:25:00.000Z',
    ]);
  });
});

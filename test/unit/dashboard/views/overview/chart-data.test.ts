import { expect, it } from '@jest/globals';
import { pageModule } from '../../../../support/dashboard/page-module.js';

const { chartData } = pageModule('views/overview/chart-data');

it('draws regions that the configuration adds behind the documented ones, in colours of their own', () => {
  const regions = { us1: 1, none: 2, 'eu-north': 3, eu3: 4, eu1: 5 };
  const total = { outcomes: {}, regions };
  const bucket = { start: '2026-11-20T10:00:00.000Z', bytes: 0, duration: null, ...total };
  const charts = chartData({ buckets: [bucket], total, gaps: [] });
  const { series } = charts.find(({ id }: { id: string }) => id === 'regions');
  expect(series.map(({ name, colour, values }: Record<string, unknown>) => [name, colour, values])).toEqual([
    ['eu1', 'eu1', [5]],
    ['us1', 'us1', [1]],
    ['eu-north', 'region-6', [3]],
    ['eu3', 'region-7', [4]],
    ['none', 'none', [2]],
  ]);
});

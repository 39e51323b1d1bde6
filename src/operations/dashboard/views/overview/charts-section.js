import { h } from '../../lib/elements/dom.js';
import { section } from '../../lib/elements/panels.js';
import { to } from '../../lib/screen/route.js';
import { chartFigures } from '../charts/chart-figures.js';
import { notesOf } from '../charts/chart-text.js';
import { periodCharts } from '../charts/period-charts.js';

/** @import { Health, Summary } from '../../lib/api/api-answers.js' */
/** @import { Chart } from '../charts/period-charts.js' */

/** @typedef {{name: string, label: string, ms: number, buckets: number}} Range `buckets` is the most that are asked for */

const DAY = { name: '24h', label: '24 hours', ms: 24 * 3_600_000, buckets: 96 };
/** Time ranges to choose from. */
const RANGES = [
  { name: '1h', label: '1 hour', ms: 3_600_000, buckets: 60 },
  { name: '6h', label: '6 hours', ms: 6 * 3_600_000, buckets: 72 },
  DAY,
  { name: '7d', label: '7 days', ms: 7 * 24 * 3_600_000, buckets: 84 },
  { name: '30d', label: '30 days', ms: 30 * 24 * 3_600_000, buckets: 60 },
  { name: '1y', label: '1 year', ms: 365 * 24 * 3_600_000, buckets: 53 },
];

/** @param {URLSearchParams} query @returns {Range} */
export function rangeOf(query) {
  return RANGES.find(({ name }) => name === query.get('range')) ?? DAY;
}

/** @param {Summary} summary */
export function overviewCharts(summary) {
  return periodCharts(summary, (since, until) => to('deliveries', { since, until }));
}

/** @param {Summary} summary @param {readonly Chart[]} charts @param {Health['verdict']} verdict @param {Range} range */
export function chartsSection(summary, charts, verdict, range) {
  return section(
    { id: 'over-time', title: 'Over time', key: 'charts', beside: rangeLinks(range) },
    chartFigures(charts, range.name),
    notesOf(summary, verdict).map((text) => h('p', { class: 'quiet', 'data-key': text.slice(0, 12) }, text)),
  );
}

/** @param {Range} chosen */
function rangeLinks(chosen) {
  return h(
    'nav',
    { class: 'switch', 'aria-label': 'Time range' },
    RANGES.map(({ name, label }) =>
      h('a', { href: to('', { range: name }), 'aria-current': name === chosen.name && 'true' }, label),
    ),
    h('a', { href: to('summary') }, 'Any time…'),
  );
}

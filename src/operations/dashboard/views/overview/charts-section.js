import { h } from '../../lib/elements/dom.js';
import { section } from '../../lib/elements/panels.js';
import { to } from '../../lib/screen/route.js';
import { clock, span } from '../../lib/text/format.js';
import { chartFigures } from '../charts/chart-figures.js';
import { notesOf } from '../charts/chart-text.js';
import { periodCharts } from '../charts/period-charts.js';
import { isPartlyRead } from './tile-parts.js';

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

/**
 * The figures of a period and the oldest open job as charts.
 * @param {Summary} summary @param {Pick<Health, 'oldestOpen' | 'failing' | 'verdict'>} health @returns {Chart[]}
 */
export function overviewCharts(summary, health) {
  const charts = periodCharts(summary, (since, until) => to('deliveries', { since, until }));
  const { times = [], linkTo = () => '', countedSince = null } = charts[0] ?? {};
  return [...charts, { ...oldestOpen(health, times), times, linkTo, countedSince }];
}

/** @param {Summary} summary @param {readonly Chart[]} charts @param {Health['verdict']} verdict @param {Range} range */
export function chartsSection(summary, charts, verdict, range) {
  const figures = (/** @type {boolean} */ isMain) =>
    chartFigures(
      charts.filter((chart) => chart.isMain === isMain),
      range.name,
    );
  return section(
    { id: 'over-time', title: 'Over time', key: 'charts', beside: rangeLinks(range) },
    figures(true),
    h('details', { 'data-key': 'more' }, h('summary', {}, 'By region, and bytes'), figures(false)),
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

/**
 * How old the job was at the end of each bucket that is open for longest now.
 * @param {Pick<Health, 'oldestOpen' | 'failing' | 'verdict'>} health @param {readonly number[]} times
 * @returns {Omit<Chart, 'times' | 'linkTo' | 'countedSince'>}
 */
function oldestOpen({ oldestOpen: oldest, failing, verdict }, times) {
  const [first = 0, second = first] = times;
  const since = oldest === null ? Number.POSITIVE_INFINITY : Date.parse(oldest.since);
  const ageAt = (/** @type {number} */ end) => (end > since ? end - since : null);
  return {
    id: 'oldest',
    isMain: true,
    title: 'Age of the oldest open job',
    sum: oldest && `since ${clock(oldest.since)}`,
    empty: noneOpen(failing, verdict),
    kind: 'lines',
    show: span,
    series: [
      {
        name: 'oldest',
        colour: 'failed',
        label: oldest === null ? 'Age' : `Age of ${oldest.jobId}`,
        values: times.map((time) => ageAt((time + second - first) * 1000)),
      },
    ],
  };
}

/** @param {Health['failing']} failing @param {Health['verdict']} verdict */
function noneOpen(failing, verdict) {
  if (failing === null) return 'Unknown: the failing jobs could not be read.';
  return isPartlyRead(verdict) ? 'No open job was found; not every delivery was read.' : 'No job is open.';
}

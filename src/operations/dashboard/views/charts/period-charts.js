import { count, milliseconds, percent, span } from '../../lib/text/format.js';
import { outcomeOf } from '../../lib/text/ledger-terms.js';
import { uncounted } from './chart-text.js';

/** @import { Summary } from '../../lib/api/api-answers.js' */

/**
 * @typedef {{name: string, colour: string, label: string, values: (number | null)[]}} ChartSeries `colour` is the rest of the name
 *   of a variable that begins with `--series-`
 * @typedef {object} Chart
 * @property {'outcomes' | 'share' | 'latency'} id
 * @property {string} title
 * @property {string | null} sum the figure of the whole window
 * @property {string} empty text to show if there is no data
 * @property {'bars' | 'lines'} kind bars are stacked
 * @property {(value: number) => string} show
 * @property {ChartSeries[]} series
 * @property {number[]} times start of each bucket, in seconds
 * @property {(bucket: number) => string} linkTo its deliveries
 */

/** The figures of `GET /summary` as data for charts. */

/** Stacking order of outcomes, from the bottom; others come last. */
const STACK = [
  'stored',
  'duplicate',
  'noted',
  'recovered',
  'released',
  'conflict',
  'quarantined',
  'refused',
  'unrecoverable',
  'failed',
];

/**
 * @param {Summary} summary
 * @param {(since: string, until: string | null) => string} toDeliveries a link; the last bucket has no end: it may be longer than the others
 * @returns {Chart[]}
 */
export function periodCharts(summary, toDeliveries) {
  const { buckets, total } = summary;
  const none =
    uncounted(summary) === null ? 'in this window' : 'in the part of this window that could be counted';
  const known = summary.unrecorded === null ? ' with a valid credential, which alone could be counted,' : '';
  const starts = buckets.map(({ start }) => Date.parse(start));
  const [first = 0, second = first] = starts;
  /** @type {Omit<Chart, 'times' | 'linkTo'>[]} */
  const charts = [
    {
      id: 'outcomes',
      title: second > first ? `Deliveries per ${span(second - first)}` : 'Deliveries',
      sum: count(total.lines),
      empty: `No deliveries ${none}.`,
      kind: 'bars',
      show: (n) => count(n),
      series: outcomeSeries(buckets, total),
    },
    {
      id: 'latency',
      title: 'Callback duration',
      sum: total.duration && `95 % within ${milliseconds(total.duration.p95)}`,
      empty: `No callbacks ${none}.`,
      kind: 'lines',
      show: milliseconds,
      series: latency(buckets),
    },
    {
      id: 'share',
      title: 'Callbacks not answered 2xx',
      sum: summary.unrecorded === null ? null : inPercent(shareNot2xx(total)),
      empty:
        total.duration === null
          ? `No callbacks ${none}.`
          : `Every callback ${none}${known} was answered 2xx.`,
      kind: 'bars',
      show: inPercent,
      series: [
        { name: 'share', colour: 'refused', label: 'not answered 2xx', values: buckets.map(shareNot2xx) },
      ],
    },
  ];
  /** @param {number} bucket */
  const linkTo = (bucket) =>
    toDeliveries(buckets[bucket]?.start ?? summary.since, buckets[bucket + 1]?.start ?? null);
  const shared = { times: starts.map((start) => start / 1000), linkTo };
  return charts.map((chart) => ({ ...chart, ...shared }));
}

/**
 * Deliveries by outcome, and above them what was refused without a line, or expected and did not come: an outage is no quiet hour.
 * @param {Summary['buckets']} buckets @param {Summary['total']} total
 */
function outcomeSeries(buckets, total) {
  const names = Object.keys(total.outcomes).sort((a, b) => placeOf(a) - placeOf(b));
  const series = names.map((name) => ({
    name,
    colour: name,
    label: outcomeOf(name).word,
    values: buckets.map(({ outcomes }) => (Object.hasOwn(outcomes, name) ? (outcomes[name] ?? 0) : 0)),
  }));
  const unrecorded = (/** @type {Summary['total']} */ { refused, outcomes }) =>
    Math.max(0, refused - (outcomes.refused ?? 0));
  if (unrecorded(total) > 0)
    series.push({
      name: 'unrecorded',
      colour: 'unrecorded',
      label: 'refused before a valid credential',
      values: buckets.map(unrecorded),
    });
  if (total.missed)
    series.push({
      name: 'missed',
      colour: 'missed',
      label: 'expected, did not come',
      values: buckets.map(({ missed }) => missed),
    });
  return series;
}

/** Null without callbacks. @param {Pick<Summary['total'], 'callbacks' | 'refused'>} figures */
function shareNot2xx({ callbacks, refused }) {
  return callbacks === 0 ? null : (100 * refused) / callbacks;
}

/** @param {number | null} share */
function inPercent(share) {
  return share === null ? '' : `${percent(share, 100)}`;
}

/** @param {string} name */
function placeOf(name) {
  const place = STACK.indexOf(name);
  return place < 0 ? STACK.length : place;
}

/** @param {Summary['buckets']} buckets */
function latency(buckets) {
  /** @param {'p50' | 'p95'} figure */
  const of = (figure) => buckets.map(({ duration }) => duration?.[figure] ?? null);
  return [
    { name: 'p50', colour: 'p50', label: 'Median', values: of('p50') },
    { name: 'p95', colour: 'p95', label: '95th percentile', values: of('p95') },
  ];
}

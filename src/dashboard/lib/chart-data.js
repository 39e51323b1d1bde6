import { bytes, clock, count, milliseconds } from './format.js';
import { outcomeOf } from './words.js';

/** The figures of `GET summary` as the four charts want them. */

/** Order in which outcomes are stacked, from the ground up; what is not named comes last. */
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
const REGIONS = ['eu1', 'eu2', 'us1', 'us2', 'au1'];

/** Time ranges to look at. */
export const RANGES = [
  { name: '1h', label: '1 hour', ms: 3_600_000, buckets: 60 },
  { name: '6h', label: '6 hours', ms: 6 * 3_600_000, buckets: 72 },
  { name: '24h', label: '24 hours', ms: 24 * 3_600_000, buckets: 96 },
  { name: '7d', label: '7 days', ms: 7 * 24 * 3_600_000, buckets: 84 },
];

/** `{id, title, kind, unit, series: [{name, label, values}], times}` for each chart. */
export function chartsOf({ buckets, total }) {
  const times = buckets.map(({ start }) => Date.parse(start) / 1000);
  return [
    {
      id: 'outcomes',
      title: 'Deliveries by outcome',
      kind: 'bars',
      show: (n) => count(n),
      series: counted(buckets, total, 'outcomes', STACK, (name) => outcomeOf(name).word),
    },
    {
      id: 'regions',
      title: 'Deliveries by region',
      kind: 'bars',
      show: (n) => count(n),
      series: counted(buckets, total, 'regions', REGIONS, (name) => (name === 'none' ? 'no region' : name)),
    },
    {
      id: 'latency',
      title: 'Callback duration',
      kind: 'lines',
      show: milliseconds,
      series: latency(buckets),
    },
    {
      id: 'volume',
      title: 'Bytes received',
      kind: 'bars',
      show: bytes,
      series: [{ name: 'volume', label: 'Bytes received', values: buckets.map((bucket) => bucket.bytes) }],
    },
  ].map((chart) => ({ ...chart, times }));
}

function counted(buckets, total, field, order, labelOf) {
  const names = Object.keys(total[field]).sort((a, b) => placeOf(a, order) - placeOf(b, order));
  return names.map((name) => ({
    name,
    label: labelOf(name),
    values: buckets.map((bucket) => (Object.hasOwn(bucket[field], name) ? bucket[field][name] : 0)),
  }));
}

function placeOf(name, order) {
  const place = order.indexOf(name);
  return place < 0 ? order.length : place;
}

function latency(buckets) {
  const of = (figure) => buckets.map(({ duration }) => duration?.[figure] ?? null);
  return [
    { name: 'p50', label: 'Median', values: of('p50') },
    { name: 'p95', label: '95th percentile', values: of('p95') },
  ];
}

/** What a chart shows, in a sentence, for whoever does not see it. */
export function sentenceOf({ kind, series, times, show }) {
  const sums = series.map(({ label, values }) => [
    label,
    values.reduce((sum, value) => sum + (value ?? 0), 0),
    values,
  ]);
  if (sums.every(([, sum]) => sum === 0)) return 'Nothing in this time range.';
  if (kind === 'lines') {
    return sums
      .map(([label, , values]) => `${label} at most ${show(Math.max(...values.map((value) => value ?? 0)))}`)
      .join('; ');
  }
  const perBucket = times.map((_, index) => series.reduce((sum, { values }) => sum + values[index], 0));
  const busiest = perBucket.indexOf(Math.max(...perBucket));
  const told = sums.filter(([, sum]) => sum > 0).map(([label, sum]) => `${show(sum)} ${label.toLowerCase()}`);
  return `${told.join(', ')}. Most at ${clock(times[busiest] * 1000)}: ${show(perBucket[busiest])}.`;
}

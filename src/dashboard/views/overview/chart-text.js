import { clock } from '../../lib/text/format.js';

/** @import { Summary } from '../../lib/api/api-answers.js' */
/** @import { Chart } from './chart-data.js' */

/** What is said of charts in words. */

const SHOWN_GAPS = 3;

/**
 * How far the figures can be relied on: gaps, faults, and days that are not those of the chosen zone.
 * @param {Summary} summary @returns {string[]}
 */
export function notesOf({ since, gaps, faults, resolutionMs }) {
  const ranges = gaps
    .slice(-SHOWN_GAPS)
    .map((gap) =>
      gap.since === since ? `before ${clock(gap.until)}` : `${clock(gap.since)} to ${clock(gap.until)}`,
    );
  const more = gaps.length - ranges.length;
  return [
    gaps.length > 0 &&
      `Not counted: deliveries ${ranges.join(', ')}${more > 0 ? ` and in ${more} more gaps` : ''}.`,
    faults.length > 0 && 'Could not be read: some deliveries, which Failures names.',
    resolutionMs >= 86_400_000 && 'Days begin at midnight UTC.',
  ].filter((text) => typeof text === 'string');
}

/** @param {Chart} chart */
export function isEmpty({ series }) {
  return series.every(({ values }) => values.every((value) => !value));
}

/**
 * A text alternative for a chart.
 * @param {Chart} chart
 */
export function sentenceOf({ kind, series, times, show }) {
  const sums = series.map(({ values }) => values.reduce(add, 0));
  if (kind === 'lines') {
    return series
      .map(({ label, values }) => `${label} at most ${show(Math.max(...values.map((value) => value ?? 0)))}`)
      .join('; ');
  }
  const perBucket = times.map((_, index) => series.reduce((sum, { values }) => add(sum, values[index]), 0));
  const most = Math.max(...perBucket);
  const parts = series.flatMap(({ label }, index) =>
    sums[index] ? [`${show(sums[index])} ${label.toLowerCase()}`] : [],
  );
  return `${parts.join(', ')}. Most at ${clock((times[perBucket.indexOf(most)] ?? 0) * 1000)}: ${show(most)}.`;
}

/** @param {number} sum @param {number | null | undefined} value @returns {number} */
function add(sum, value) {
  return sum + (value ?? 0);
}

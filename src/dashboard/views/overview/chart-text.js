import { clock } from '../../lib/text/format.js';

/** @import { Summary } from '../../lib/api/api-answers.js' */
/** @import { Chart } from './chart-data.js' */

/** What is said of charts in words. */

/**
 * How far the figures can be relied on, and days that are not those of the chosen zone.
 * @param {Summary} summary @returns {string[]}
 */
export function notesOf(summary) {
  const { index, resolutionMs } = summary;
  const parts = uncounted(summary);
  return [
    parts.length > 0 && `Not counted: deliveries ${parts.join(' and ')}.`,
    index.missing.length > 0 && 'Could not be read: some deliveries, which Failures names.',
    resolutionMs >= 86_400_000 && 'Days begin at midnight UTC.',
  ].filter((text) => typeof text === 'string');
}

/** Milliseconds by which the index may be behind: it reads what is new at least every 30 s. */
const USUAL_DELAY = 90_000;

/**
 * The parts of the period whose deliveries are not in the figures, in words.
 * @param {Pick<Summary, 'since' | 'until' | 'index'>} summary @returns {string[]}
 */
export function uncounted({ since, until, index }) {
  const first = index.since ?? since;
  const last = index.until ?? since;
  return [
    ...(first > since ? [`before ${clock(first)}`] : []),
    ...(Date.parse(until) - Date.parse(last) > USUAL_DELAY ? [`after ${clock(last)}`] : []),
  ];
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

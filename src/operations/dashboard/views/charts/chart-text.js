import { clock } from '../../lib/text/format.js';
import { notIndexedInWords } from '../../vendor/index/index-extent.js';

/** @import { Health, Summary } from '../../lib/api/api-answers.js' */
/** @import { Chart } from './period-charts.js' */

/** What is said of charts in words. */

/**
 * How far the figures can be relied on, where the verdict does not say it, and days that are not those of the chosen zone.
 * @param {Summary} summary @param {Pick<Health['verdict'], 'unseen'>} verdict @returns {string[]}
 */
export function notesOf(summary, { unseen }) {
  const isSaid = unseen.includes('deliveries');
  return [isSaid ? null : uncounted(summary), ...dayNotes(summary)].filter((text) => text !== null);
}

/** @param {Pick<Summary, 'resolutionMs'>} summary */
export function dayNotes({ resolutionMs }) {
  return resolutionMs >= 86_400_000 ? ['Days begin at midnight UTC.'] : [];
}

/**
 * What of the period is not in the figures, in a sentence; null where they have all of it.
 * @param {Pick<Summary, 'since' | 'until' | 'index'>} summary
 */
export function uncounted({ since, until, index }) {
  return notIndexedInWords(index, { since: Date.parse(since), until: Date.parse(until) }, clock);
}

/** @param {Chart} chart */
export function isEmpty({ series }) {
  return series.every(({ values }) => values.every((value) => !value));
}

/**
 * A text alternative for a chart.
 * @param {Chart} chart
 */
export function sentenceOf(chart) {
  const { countedSince } = chart;
  const unread = countedSince === null ? '' : ` Not counted: what came before ${clock(countedSince * 1000)}.`;
  return `${figuresOf(chart)}${unread}`;
}

/** @param {Chart} chart */
function figuresOf({ id, kind, sum, series, times, show }) {
  const sums = series.map(({ values }) => values.reduce(add, 0));
  if (kind === 'lines') {
    const parts = series.map(
      ({ label, values }) => `${label} at most ${show(Math.max(...values.map((value) => value ?? 0)))}`,
    );
    return `${parts.join('; ')}.`;
  }
  const perBucket = times.map((_, index) => series.reduce((sum, { values }) => add(sum, values[index]), 0));
  const most = Math.max(...perBucket);
  // Shares do not add up.
  const all = (/** @type {number} */ index) => (id === 'share' ? sum : show(sums[index] ?? 0));
  const parts = series.flatMap(({ label }, index) =>
    sums[index] ? [`${all(index)} ${label.toLowerCase()}`] : [],
  );
  return `${parts.join(', ')}. Most at ${clock((times[perBucket.indexOf(most)] ?? 0) * 1000)}: ${show(most)}.`;
}

/** @param {number} sum @param {number | null | undefined} value @returns {number} */
function add(sum, value) {
  return sum + (value ?? 0);
}

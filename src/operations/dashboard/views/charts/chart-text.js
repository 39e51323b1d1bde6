import { clock } from '../../lib/text/format.js';
import { notIndexedInWords } from '../../vendor/index/index-extent.js';

/** @import { Health, Summary } from '../../lib/api/api-answers.js' */
/** @import { Chart } from './period-charts.js' */

/** What is said of charts in words. */

/**
 * How far the figures can be relied on, where the verdict does not say it, and days that are not those of the browser's zone.
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

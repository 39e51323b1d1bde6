import { ago } from './format.js';

/** @import { Unknown } from '../api/api-answers.js' */

/**
 * Why a figure is unknown, and since when.
 * @param {Unknown} why @param {number} now
 */
export function whyUnknown({ reason, since }, now) {
  return since === null ? [reason] : [`The ledger was last read ${ago(since, now)}`, reason];
}

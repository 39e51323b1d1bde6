import { may } from '../../lib/api/session.js';
import { clock } from '../../lib/text/format.js';
import { beginWithinDay } from '../../vendor/index/index-extent.js';

/** @import { Health, Topic } from '../../lib/api/api-answers.js' */

/**
 * @typedef {{href: string, text: string}} Action link of a tile
 *
 * @typedef {object} Facts what is known of a topic, as it is shown without issues
 * @property {Topic} id
 * @property {string} title
 * @property {string} word
 * @property {string} figure
 * @property {string[]} details
 * @property {boolean} [isNeutral] neither good nor bad: there is nothing yet
 * @property {Action} [action] where the facts lead; help by default
 */

/** @param {string} repairing what somebody does there who may @returns {Action} */
export function toFailures(repairing) {
  return { href: '#/failures', text: may('repair') ? repairing : 'Show' };
}

/** Whether lines of the ledger were not read: what was not found may be there. @param {Health['verdict']} verdict */
export function isPartlyRead({ unseen, issues }) {
  return unseen.includes('deliveries') || issues.some(({ topic }) => topic === 'ledger');
}

/** The time that figures of the last day cover. @param {Health['verdict']} verdict */
export function inLastDay({ index }) {
  const begin = beginWithinDay(index);
  return begin === null ? 'in 24 h' : `since ${clock(begin)}`;
}

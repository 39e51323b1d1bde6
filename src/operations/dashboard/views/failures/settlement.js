import { status } from '../../lib/elements/status.js';
import { clock } from '../../lib/text/format.js';
import { settlementInWords as inWords } from '../../vendor/job-state.js';

/** @import { QuarantinedBody, Settlement } from '../../lib/api/api-answers.js' */

/** @param {Pick<QuarantinedBody, 'state'>} body */
export function bodyStatus({ state }) {
  if (state === 'released') return status('good', 'Released');
  return state === 'settled' ? status('neutral', 'Settled') : status('notice', 'Waiting');
}

/**
 * "The body was dismissed by ops at 4 March 2026, 05:06: a test call."
 * @param {Settlement | null} settlement
 */
export function settlementInWords(settlement) {
  return inWords(settlement, clock);
}

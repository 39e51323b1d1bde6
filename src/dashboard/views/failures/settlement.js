import { status } from '../../lib/elements/status.js';
import { clock } from '../../lib/text/format.js';

/** @import { QuarantinedBody, Settlement } from '../../lib/api/api-answers.js' */

/** @param {Pick<QuarantinedBody, 'state'>} body */
export function bodyStatus({ state }) {
  if (state === 'released') return status('good', 'Released');
  return state === 'settled' ? status('neutral', 'Settled') : status('notice', 'Waiting');
}

/** @type {Record<Settlement['by'], string>} */
const BY = {
  dismissed: 'The body was dismissed',
  acknowledged: 'The job was acknowledged',
  refetched: 'The job was refetched and is complete',
  imported: 'Files of the job were imported',
  stored: 'The archive holds what the body should have brought',
};

/**
 * "The body was dismissed by ops on 4 March 2026, 05:06: a test call."
 * @param {Settlement | null} settlement
 */
export function settlementInWords(settlement) {
  if (settlement === null || settlement.by === 'stored') return `${BY.stored}.`;
  const { by, actor, settledAt, reason } = settlement;
  return `${BY[by]}${actor === null ? '' : ` by ${actor}`} at ${clock(settledAt)}${reason === null ? '' : `: ${reason}`}.`;
}

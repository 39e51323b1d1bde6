import { may } from '../../lib/api/session.js';
import { h, link } from '../../lib/elements/dom.js';
import { moment, section } from '../../lib/elements/panels.js';
import { bytes } from '../../lib/text/format.js';
import { dismissButton } from '../failures/dismiss-button.js';
import { bodyStatus, settlementInWords } from '../failures/settlement.js';

/** @import { QuarantinedBody } from '../../lib/api/api-answers.js' */
/** @import { Refresh } from '../../lib/screen/screen.js' */

/**
 * The bodies of a job in quarantine, what became of them, and what can be done.
 * @param {readonly QuarantinedBody[]} bodies @param {Refresh} again
 */
export function jobBodies(bodies, again) {
  if (bodies.length === 0) return null;
  return section(
    { id: 'bodies', title: 'In quarantine' },
    bodies.map((body) => jobBody(body, again)),
  );
}

/** @param {QuarantinedBody} body @param {Refresh} again */
function jobBody(body, again) {
  const { deliveryId, jobId, receivedAt, state, settlement, bytes: size } = body;
  return h(
    'div',
    { class: 'panel', 'data-key': deliveryId },
    h('p', {}, bodyStatus(body), ' ', moment(receivedAt), ` · ${bytes(size)}`),
    state === 'settled' && h('p', {}, settlementInWords(settlement)),
    h(
      'div',
      { class: 'buttons' },
      may('read') && link(`#/quarantine/${encodeURIComponent(deliveryId)}`, 'Inspect'),
      state === 'waiting' && dismissButton(deliveryId, jobId, again),
    ),
  );
}

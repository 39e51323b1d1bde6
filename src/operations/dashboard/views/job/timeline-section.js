import { may } from '../../lib/api/session.js';
import { contextValues, hasContext } from '../../lib/elements/context-values.js';
import { h, link } from '../../lib/elements/dom.js';
import { idText, indexNote, moment, section, toDelivery } from '../../lib/elements/panels.js';
import { shape } from '../../lib/elements/status.js';
import { to } from '../../lib/screen/route.js';
import { accessesInWords, describeLine } from '../../lib/text/describe-line.js';
import { isAccess } from '../../lib/text/ledger-terms.js';
import { identityOf } from '../delivery-table.js';

/** @import { Job, LedgerLine } from '../../lib/api/api-answers.js' */

/**
 * The ledger lines of a job as text, oldest first, with those of accesses folded; `chosen` is the id of the delivery to highlight.
 * @param {Pick<Job, 'jobId' | 'timeline' | 'isCut' | 'index'>} job @param {string | null} chosen
 */
export function timelineSection({ jobId, timeline, isCut, index }, chosen) {
  const accesses = timeline.filter(isAccess);
  const history = timeline.filter((line) => !isAccess(line));
  return section(
    { id: 'timeline', title: 'Timeline' },
    history.length === 0
      ? h('p', { class: 'quiet' }, 'No callback, recovery or import was found.')
      : events(history, chosen),
    accesses.length > 0 &&
      h(
        'details',
        {
          'data-key': 'accesses',
          class: 'accesses',
          open: accesses.some(({ deliveryId }) => deliveryId === chosen),
        },
        h('summary', {}, accessesInWords(accesses)),
        events(accesses, chosen),
      ),
    isCut &&
      h(
        'p',
        { class: 'quiet', 'data-key': 'older' },
        'The job has older lines: ',
        link(to('deliveries', { job: jobId }), 'all lines of the job'),
        '.',
      ),
    indexNote(index),
  );
}

/** @param {readonly LedgerLine[]} lines @param {string | null} chosen */
function events(lines, chosen) {
  return h(
    'ol',
    { class: 'timeline' },
    lines.map((line) => event(line, chosen)),
  );
}

/** @param {LedgerLine} line @param {string | null} chosen */
function event(line, chosen) {
  const { tone, title, details } = describeLine(line);
  return h(
    'li',
    { 'data-key': identityOf(line), class: line.deliveryId === chosen && 'chosen' },
    shape(tone),
    h(
      'div',
      {},
      h(
        'p',
        { class: 'when' },
        moment(line.receivedAt),
        ' · ',
        idText('delivery', line.deliveryId, toDelivery(line)),
      ),
      h('p', { class: 'title' }, title),
      hasContext([line]) && h('p', { class: 'detail' }, contextValues([line])),
      details.map((text) => h('p', { class: 'detail' }, text)),
      quarantineLink(line),
      shapeOf(line),
    ),
  );
}

/** @param {LedgerLine} line */
function quarantineLink({ outcome, deliveryId }) {
  if (outcome !== 'quarantined' || !may('read')) return null;
  return h('p', {}, link(`#/quarantine/${encodeURIComponent(deliveryId)}`, 'Inspect the body'));
}

/**
 * How the body arrived on the wire, for debugging the sender.
 * @param {LedgerLine} line
 */
function shapeOf({ shape: wire, method }) {
  if (!wire) return null;
  const parts = (wire.parts ?? []).map(({ name, contentType, bytes }) =>
    [name ?? 'unnamed or custom name', contentType, `${bytes} bytes`].filter(Boolean).join(' · '),
  );
  return h(
    'details',
    {},
    h('summary', {}, 'As received'),
    h(
      'p',
      { class: 'mono' },
      [method, wire.contentType ?? 'no content type', wire.contentEncoding, wire.framing]
        .filter(Boolean)
        .join(' · '),
    ),
    parts.length > 0 &&
      h(
        'ul',
        { class: 'mono' },
        parts.map((text) => h('li', {}, text)),
      ),
  );
}

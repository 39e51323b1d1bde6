import { post } from '../../lib/api/admin-api.js';
import { canRefetch, may } from '../../lib/api/session.js';
import { button, unseen } from '../../lib/elements/button.js';
import { h, link } from '../../lib/elements/dom.js';
import { loadMore, SHORT_LIST } from '../../lib/elements/load-more.js';
import { emptyPanel, indexNote, jobLink, moment, section } from '../../lib/elements/panels.js';
import { confirmed } from '../../lib/elements/run-action.js';
import { figure, table } from '../../lib/elements/table.js';
import { bytes, capital, count } from '../../lib/text/format.js';
import { windowOfPage } from '../../vendor/index/index-extent.js';
import { reasonInWords, remedyFor } from '../../vendor/reasons.js';
import { refetchOnClick } from '../job/job-actions.js';
import { dismissButton } from './dismiss-button.js';

/** @import { GetAnswers, QuarantinedBody } from '../../lib/api/api-answers.js' */
/** @import { ShownRows } from '../../lib/elements/load-more.js' */
/** @import { Refresh } from '../../lib/screen/screen.js' */

/**
 * Bodies that could not be decoded, each with its cause and what repairs its job.
 * @param {GetAnswers['/quarantine']} page @param {ShownRows} rows @param {Refresh} again
 */
export function quarantineSection({ quarantine, nextCursor, index }, rows, again) {
  const note = indexNote(index, windowOfPage(nextCursor, quarantine.at(-1)?.receivedAt));
  return section(
    { id: 'quarantine', title: 'Quarantine', look: 'compact' },
    quarantine.length === 0
      ? emptyPanel(
          note === null ? 'Quarantine is empty.' : 'No waiting body was found.',
          h('p', {}, 'Authenticated callbacks that cannot be decoded are kept here, byte for byte.'),
        )
      : [
          quarantine.length > SHORT_LIST &&
            may('repair') &&
            h('p', {}, link('#/replays?kind=release', 'Release them with a replay'), '.'),
          h(
            'details',
            { 'data-key': 'bodies', open: quarantine.length <= SHORT_LIST },
            h(
              'summary',
              {},
              nextCursor === null
                ? count(quarantine.length, 'body', 'bodies')
                : `The newest ${count(quarantine.length)}; more are waiting`,
            ),
            table('Bodies in quarantine', quarantine, ({ deliveryId }) => deliveryId, [
              { name: 'When', cell: ({ receivedAt }) => moment(receivedAt) },
              { name: 'Job', cell: ({ jobId }) => jobLink(jobId) },
              { name: 'Size', cell: ({ bytes: size }) => figure(bytes(size)) },
              { name: 'Cause', cell: causeOf },
              (may('read') || may('repair')) && { name: 'Repair', cell: (body) => repairs(body, again) },
            ]),
            loadMore('bodies', rows, nextCursor, again),
          ),
        ],
    note,
  );
}

/** @param {QuarantinedBody} body */
function causeOf({ reason, source }) {
  return h(
    'div',
    {},
    `${capital(reasonInWords(reason) ?? 'not decodable')}.`,
    h('p', { class: 'detail' }, `Source ${source}. `, remedyFor(reason)),
  );
}

/** @param {QuarantinedBody} body @param {Refresh} again */
function repairs({ deliveryId, jobId }, again) {
  return h(
    'div',
    { class: 'buttons' },
    may('read') &&
      link(`#/quarantine/${encodeURIComponent(deliveryId)}`, 'Inspect', unseen(` the body of job ${jobId}`)),
    canRefetch() && button(['Refetch', unseen(` job ${jobId}`)], refetchOnClick(jobId, again), 'plain small'),
    dismissButton(deliveryId, jobId, again),
  );
}

/**
 * Decodes a quarantined body with the current decoder and configuration.
 * @param {string} deliveryId @param {Refresh} again
 */
export function releaseBody(deliveryId, again) {
  return confirmed(
    () => ({
      title: 'Release this body?',
      body: 'The body is decoded with the current decoder and configuration. If it still cannot be decoded, it stays in quarantine.',
      confirm: 'Release',
    }),
    async (agreed) => {
      const { items } = await post(`/quarantine/${encodeURIComponent(deliveryId)}/release`, agreed);
      return `Released: ${items.length === 0 ? 'nothing had to be stored' : `${count(items.length, 'item')} stored`}.`;
    },
    again,
  );
}

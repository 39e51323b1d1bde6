import { post } from '../../lib/api/admin-api.js';
import { canRefetch, may } from '../../lib/api/session.js';
import { confirmDialog } from '../../lib/elements/confirm-dialog.js';
import { h, link } from '../../lib/elements/dom.js';
import { loadMore, SHORT_LIST } from '../../lib/elements/load-more.js';
import { emptyPanel, indexNote, jobLink, moment, table } from '../../lib/elements/panels.js';
import { runAction } from '../../lib/elements/run-action.js';
import { bytes, capital, count } from '../../lib/text/format.js';
import { askedByPage } from '../../vendor/index/index-extent.js';
import { reasonInWords, remedyFor } from '../../vendor/reasons.js';
import { refetchJob } from '../job/job-actions.js';
import { dismissButton } from './dismiss-button.js';

/** @import { GetAnswers, QuarantinedBody } from '../../lib/api/api-answers.js' */
/** @import { ShownRows } from '../../lib/elements/load-more.js' */
/** @import { Refresh } from '../../lib/screen/screen.js' */

/**
 * Bodies that could not be decoded, each with its cause and what repairs its job.
 * @param {GetAnswers['/quarantine']} page @param {ShownRows} rows @param {Refresh} again
 */
export function quarantineSection({ quarantine, nextCursor, index }, rows, again) {
  const note = indexNote(index, askedByPage(nextCursor, quarantine.at(-1)?.receivedAt));
  return h(
    'section',
    { class: 'compact', 'aria-labelledby': 'quarantine', 'data-key': 'quarantine' },
    h('h2', { id: 'quarantine' }, 'Quarantine'),
    quarantine.length === 0
      ? nextCursor === null
        ? emptyPanel(
            note === null ? 'Quarantine is empty.' : 'No waiting body was found.',
            h('p', {}, 'Authenticated callbacks that cannot be decoded are kept here, byte for byte.'),
          )
        : emptyPanel(
            'No body waits among the newest ones.',
            h(
              'p',
              {},
              'Older ones were not looked at: ',
              h('code', {}, 'transcript-receiver quarantine'),
              ' looks at all.',
            ),
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
            table({
              caption: 'Bodies in quarantine',
              columns: ['When', 'Job', 'Size', 'Cause', ...(may('read') || may('repair') ? ['Repair'] : [])],
              rows: quarantine.map((body) => ({ key: body.deliveryId, cells: bodyCells(body, again) })),
            }),
            loadMore('bodies', rows, nextCursor, again),
          ),
        ],
    note,
  );
}

/** @param {QuarantinedBody} body @param {Refresh} again */
function bodyCells(body, again) {
  const { deliveryId, receivedAt, jobId, bytes: size, reason, source } = body;
  return [
    moment(receivedAt),
    jobLink(jobId),
    h('span', { class: 'number' }, bytes(size)),
    h(
      'div',
      {},
      `${capital(reasonInWords(reason) ?? 'not decodable')}.`,
      h('p', { class: 'detail' }, `Source ${source}. `, remedyFor(reason)),
    ),
    ...(may('read') || may('repair') ? [repairs(deliveryId, jobId, again)] : []),
  ];
}

/** @param {string} deliveryId @param {string} jobId @param {Refresh} again */
function repairs(deliveryId, jobId, again) {
  const named = () => h('span', { class: 'unseen' }, ` the body of job ${jobId}`);
  return h(
    'div',
    { class: 'buttons' },
    may('read') && link(`#/quarantine/${encodeURIComponent(deliveryId)}`, 'Inspect', named()),
    canRefetch() &&
      h(
        'button',
        {
          type: 'button',
          class: 'plain small',
          onclick: (event) => refetchJob(event.currentTarget, jobId, again),
        },
        'Refetch',
        h('span', { class: 'unseen' }, ` job ${jobId}`),
      ),
    dismissButton(deliveryId, jobId, again),
  );
}

/**
 * Decodes a quarantined body with the current decoder and configuration.
 * @param {HTMLButtonElement} button @param {string} deliveryId @param {Refresh} again
 */
export async function releaseBody(button, deliveryId, again) {
  const agreed = await confirmDialog({
    title: 'Release this body?',
    body: h(
      'p',
      {},
      'The body is decoded with the current decoder and configuration. If it still cannot be decoded, it stays in quarantine.',
    ),
    confirm: 'Release',
  });
  if (agreed === null) return;
  await runAction(button, async () => {
    const { items } = await post(`/quarantine/${encodeURIComponent(deliveryId)}/release`, agreed);
    return `Released: ${items.length === 0 ? 'nothing had to be stored' : `${count(items.length, 'item')} stored`}.`;
  });
  await again();
}

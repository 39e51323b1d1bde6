import { get } from '../../lib/api/admin-api.js';
import { canRefetch, may } from '../../lib/api/session.js';
import { button } from '../../lib/elements/button.js';
import { h } from '../../lib/elements/dom.js';
import { fact, heading, idText, jobLink, moment, toDelivery } from '../../lib/elements/panels.js';
import { status } from '../../lib/elements/status.js';
import { bytes, capital, listed } from '../../lib/text/format.js';
import { kindInWords } from '../../lib/text/ledger-terms.js';
import { reasonInWords } from '../../vendor/reasons.js';
import { noRefetch, refetchOnClick } from '../job/job-actions.js';
import { dismissButton } from './dismiss-button.js';
import { releaseBody } from './quarantine-list.js';
import { bodyStatus, settlementInWords } from './settlement.js';

/** @import { QuarantinedBodyView, Release } from '../../lib/api/api-answers.js' */
/** @import { Refresh, Screen } from '../../lib/screen/screen.js' */

/**
 * One quarantined body: the reason, a preview, and whether it can be decoded now.
 * @param {Screen} screen
 */
export function quarantinedBodyView(screen) {
  screen.start('Quarantined body');
  const again = screen.keepFresh(8000, async (signal) => {
    const body = await get(`/quarantine/${encodeURIComponent(screen.route.id)}`, { signal });
    screen.render(...pageOf(body, () => again()));
  });
}

/** @param {QuarantinedBodyView} body @param {Refresh} again */
function pageOf(body, again) {
  const released = body.state === 'released';
  return [
    heading('Quarantined body', bodyStatus(body)),
    h('p', { class: 'prose', 'data-key': 'why' }, why(body)),
    released ? null : trial(body),
    body.state === 'settled' &&
      h('p', { 'data-key': 'settlement' }, settlementInWords(body.settlement), ' The body stays.'),
    body.release ? releaseNote(body.release) : actions(body, again),
    !body.release && noRefetch(),
    factsOf(body),
    h('h2', {}, 'Headers'),
    h(
      'pre',
      { class: 'raw', tabindex: '0' },
      Object.entries(body.headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n'),
    ),
    h('h2', {}, 'Beginning of the body'),
    h('pre', { class: 'raw', tabindex: '0' }, body.preview.text),
    h(
      'p',
      { class: 'quiet' },
      body.preview.truncated && 'The body continues. ',
      body.preview.binary && 'It is binary.',
    ),
  ];
}

/** The reason, and the decoder's words where they say more. @param {{reason: string | null, detail: string}} found */
function why({ reason, detail }) {
  const words = `${capital(reasonInWords(reason) ?? 'It could not be decoded')}.`;
  return detail === words ? words : `${words} ${detail}`;
}

/** @param {QuarantinedBodyView} body */
function trial({ decodes, ...arrived }) {
  return h(
    'div',
    { class: 'panel', 'data-key': 'trial' },
    decodes.ok
      ? [
          h('p', { class: 'lead' }, status('good', 'Can be decoded now')),
          h('p', {}, `Releasing it stores: ${listed(decodes.items.map(kindInWords)) || 'nothing'}.`),
        ]
      : [
          h('p', { class: 'lead' }, status('notice', 'Still cannot be decoded')),
          why(decodes) !== why(arrived) && h('p', {}, why(decodes)),
        ],
  );
}

/** @param {QuarantinedBodyView} body @param {Refresh} again */
function actions({ deliveryId, jobId, decodes, state }, again) {
  if (!may('repair')) return null;
  return h(
    'div',
    { class: 'buttons', 'data-key': 'actions' },
    button('Release', releaseBody(deliveryId, again), decodes.ok ? undefined : 'plain'),
    canRefetch() &&
      button('Refetch the job instead', refetchOnClick(jobId, again), decodes.ok ? 'plain' : undefined),
    state === 'waiting' && dismissButton(deliveryId, jobId, again, 'plain'),
  );
}

/** @param {Release} release */
function releaseNote(release) {
  return h(
    'p',
    { 'data-key': 'release' },
    `Released by ${release.actor} `,
    moment(release.releasedAt),
    release.reason && `: ${release.reason}`,
    '.',
  );
}

/** @param {QuarantinedBodyView} body */
function factsOf({
  deliveryId,
  jobId,
  receivedAt,
  bytes: size,
  source,
  region,
  clientIp,
  method,
  status: state,
  query,
  sha256,
}) {
  return h(
    'dl',
    { class: 'facts', 'data-key': 'facts' },
    fact('Job', jobLink(jobId)),
    fact('Delivery', idText('delivery', deliveryId, toDelivery({ jobId, deliveryId }))),
    fact('Arrived', moment(receivedAt)),
    fact('Size', bytes(size)),
    fact('Source', source),
    fact('From', [clientIp, region].filter(Boolean).join(', ') || 'not known'),
    fact('Request', h('span', { class: 'mono' }, `${method} ?${query}`)),
    fact('Status', state),
    fact('SHA-256', h('span', { class: 'mono' }, sha256)),
  );
}

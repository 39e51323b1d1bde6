import { get } from '../lib/api/admin-api.js';
import { h, link } from '../lib/elements/dom.js';
import { emptyPanel, heading, jobLink, moment, table, unreadLines } from '../lib/elements/panels.js';
import { to } from '../lib/screen/route.js';
import { capital } from '../lib/text/format.js';
import { explainFrom, reasonInWords, remedyFor } from '../vendor/reasons.js';

/** @import { Refusal } from '../lib/api/api-answers.js' */
/** @import { Screen } from '../lib/screen/screen.js' */

/**
 * Rejected requests and their reasons: unauthenticated ones of this replica, authenticated ones of all.
 * @param {Screen} screen
 */
export function refusalsView(screen) {
  screen.start('Refusals');
  screen.keepFresh(5000, async (signal) => {
    const { refusals, faults } = await get('/refusals', { query: { limit: 100 }, signal });
    screen.render(
      heading('Refusals'),
      h(
        'p',
        { class: 'prose', 'data-key': 'about' },
        'The latest rejected requests. Unauthenticated ones are kept in the memory of this replica only; authenticated ones are in the ledger.',
      ),
      unreadLines(faults),
      refusals.length === 0
        ? emptyPanel(
            faults.length === 0 ? 'No request was rejected.' : 'No rejected request is known.',
            h('p', {}, 'To check a request before it is sent, use ', link('#/explain', 'Explain'), '.'),
          )
        : table({
            caption: 'Refusals',
            columns: ['When', 'Address', 'Source', 'Cause', 'Who', 'Explain'],
            rows: refusals.map((refusal, index) => ({
              key: `${refusal.at} ${refusal.deliveryId ?? ''} ${index}`,
              cells: cellsOf(refusal),
            })),
          }),
    );
  });
}

/** @param {Refusal} refusal */
function cellsOf(refusal) {
  const { at, clientIp, source, reason, cause, userAgent, authenticated, jobId } = refusal;
  const remedy = remedyFor(cause ?? reason);
  return [
    moment(at),
    h('span', { class: 'mono' }, clientIp ?? 'unknown'),
    source ?? '–',
    h(
      'div',
      {},
      `${capital(reasonInWords(cause ?? reason) ?? 'no reason recorded')}.`,
      remedy && h('p', { class: 'detail' }, remedy),
    ),
    authenticated
      ? h('div', {}, 'Authenticated sender', h('p', { class: 'detail' }, jobLink(jobId)))
      : h('div', {}, 'Not authenticated', userAgent && h('p', { class: 'detail' }, userAgent)),
    explainLink(refusal),
  ];
}

/** @param {Refusal} refusal */
function explainLink(refusal) {
  const target = explainTarget(refusal);
  return (
    target &&
    link(
      target,
      'Explain',
      h('span', { class: 'unseen' }, ` requests from ${refusal.clientIp ?? refusal.peer}`),
    )
  );
}

/**
 * Where the request is explained; null unless Explain can judge it, by what was kept of it or by headers that the operator adds.
 * @param {Pick<Refusal, 'source' | 'reason' | 'cause' | 'peer' | 'forwardedFor'>} refusal
 */
export function explainTarget({ source, reason, cause, peer, forwardedFor }) {
  const code = cause ?? reason;
  if (source === null || peer === null || explainFrom(code) === null) return null;
  return to('explain', { source, address: peer, forwardedFor, refused: code });
}

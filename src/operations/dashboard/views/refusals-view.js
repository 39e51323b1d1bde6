import { get } from '../lib/api/admin-api.js';
import { unseen } from '../lib/elements/button.js';
import { h, link } from '../lib/elements/dom.js';
import { loadMore } from '../lib/elements/load-more.js';
import { emptyPanel, heading, indexNote, jobLink, moment } from '../lib/elements/panels.js';
import { figure, table } from '../lib/elements/table.js';
import { to } from '../lib/screen/route.js';
import { capital, count } from '../lib/text/format.js';
import { reasonInWords, remedyFor } from '../vendor/reasons.js';

/** @import { Refusal, RefusalCounts } from '../lib/api/api-answers.js' */
/** @import { Screen } from '../lib/screen/screen.js' */

/**
 * Rejected requests and their reasons: unauthenticated ones of this replica, authenticated ones of all.
 * @param {Screen} screen
 */
export function refusalsView(screen) {
  const rows = { shown: 50 };
  screen.start('Refusals');
  const again = screen.keepFresh(5000, async (signal) => {
    const [{ refusals, nextCursor, index }, counts] = await Promise.all([
      get('/refusals', { query: { limit: rows.shown }, signal }),
      get('/refusals/counts', { signal }).catch(() => null),
    ]);
    // Older ones than those that are shown are not asked for.
    const note = indexNote(
      index,
      nextCursor === null ? {} : { since: Date.parse(refusals.at(-1)?.at ?? '') },
    );
    screen.render(
      heading('Refusals'),
      countsOfAllReplicas(counts),
      h('h2', { 'data-key': 'latest' }, 'Latest'),
      h(
        'p',
        { class: 'prose', 'data-key': 'about' },
        nextCursor !== null && `The newest ${count(refusals.length)} are listed and counted here. `,
        'Unauthenticated requests to this replica since its start, and authenticated ones to all replicas.',
      ),
      note,
      refusals.length === 0
        ? emptyPanel(
            note === null ? 'No request was rejected.' : 'No rejected request is known.',
            h('p', {}, 'To check a request before it is sent, use ', link('#/explain', 'Explain'), '.'),
          )
        : [
            adviceByCause(refusals),
            latestTable(
              refusals,
              loadMore('requests', rows, nextCursor, () => again()),
            ),
          ],
    );
  });
}

/**
 * Unauthenticated requests to any replica, also to those that ended since.
 * @param {RefusalCounts | null} counts null when they could not be read
 */
function countsOfAllReplicas(counts) {
  if (counts === null)
    return h('p', { 'data-key': 'counts' }, 'The counts of all replicas could not be read.');
  if (counts.counts.length === 0 && counts.complete) return null;
  return h(
    'section',
    { class: 'compact', 'data-key': 'counts' },
    h('h2', {}, 'Not authenticated, all replicas, today and yesterday (UTC)'),
    !counts.complete && h('p', {}, 'Some of the counts could not be read.'),
    table('Refusals by cause', counts.counts, ({ day, source, reason }) => `${day} ${source} ${reason}`, [
      { name: 'Day', cell: ({ day }) => day },
      { name: 'Requests', cell: ({ count: requests }) => figure(count(requests)) },
      { name: 'Source', cell: ({ source }) => source ?? '–' },
      { name: 'Cause', cell: ({ reason }) => `${capital(reasonInWords(reason) ?? reason)}.` },
      { name: 'First', cell: ({ first }) => moment(first) },
      { name: 'Last', cell: ({ last }) => moment(last) },
    ]),
  );
}

/** What to do about each cause, which the rows do not repeat. @param {readonly Refusal[]} refusals */
function adviceByCause(refusals) {
  const codes = refusals.map(({ cause, reason }) => cause ?? reason);
  return h(
    'ul',
    { class: 'rows', 'data-key': 'advice', 'aria-label': 'Causes' },
    [...new Set(codes)].map((code) => {
      const remedy = remedyFor(code);
      const number = count(codes.filter((each) => each === code).length, 'request');
      return (
        remedy !== null &&
        h(
          'li',
          { class: 'panel', 'data-key': code },
          h('p', { class: 'lead' }, `${number} · ${causeOf(code)}`),
          h('p', {}, remedy),
        )
      );
    }),
  );
}

/** @param {readonly Refusal[]} refusals @param {HTMLElement | null} more */
function latestTable(refusals, more) {
  return h(
    'div',
    { class: 'compact', 'data-key': 'list' },
    table('Refusals', refusals, ({ at, deliveryId }, index) => `${at} ${deliveryId ?? ''} ${index}`, [
      { name: 'When', cell: ({ at }) => moment(at) },
      { name: 'Address', cell: ({ clientIp }) => h('span', { class: 'mono number' }, clientIp ?? 'unknown') },
      { name: 'Source', cell: ({ source }) => source ?? '–' },
      { name: 'Cause', cell: ({ cause, reason }) => causeOf(cause ?? reason) },
      { name: 'Who', cell: senderOf },
      { name: 'Explain', cell: explainLink },
    ]),
    more,
  );
}

/** @param {string | null} code */
function causeOf(code) {
  return `${capital(reasonInWords(code) ?? 'no reason recorded')}.`;
}

/** @param {Refusal} refusal */
function senderOf({ authenticated, jobId, userAgent }) {
  return authenticated
    ? h('div', {}, 'Authenticated sender', h('p', { class: 'detail' }, jobLink(jobId)))
    : h('div', {}, 'Not authenticated', userAgent && h('p', { class: 'detail' }, userAgent));
}

/** The form of Explain, filled in with what was kept of the request. @param {Refusal} refusal */
function explainLink({ source, peer, clientIp, forwardedFor }) {
  if (source === null || peer === null) return null;
  const form = to('explain', { source, address: peer, forwardedFor });
  return link(form, 'Explain', unseen(` requests from ${clientIp ?? peer}`));
}

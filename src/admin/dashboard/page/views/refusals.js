import { get } from '../lib/api.js';
import { h, link } from '../lib/dom.js';
import { emptyPanel, heading, jobLink, moment, table } from '../lib/panels.js';
import { to } from '../lib/route.js';
import { capital } from '../lib/story.js';
import { reasonInWords, remedyFor } from '../lib/words.js';

/** Who was turned away and why: strangers at this replica, and authenticated senders everywhere. */
export function refusalsView(screen) {
  screen.start('Refusals');
  screen.keepFresh(5000, async (signal) => {
    const { refusals } = await get('/refusals', { query: { limit: 100 }, signal });
    screen.render(
      heading('Refusals'),
      h(
        'p',
        { class: 'prose', 'data-key': 'about' },
        'The last refused requests. Strangers are remembered by this replica only, in memory; refusals of authenticated senders are in the ledger.',
      ),
      refusals.length === 0
        ? emptyPanel(
            'Nobody was refused.',
            h('p', {}, 'To see what would happen to a request, ', link('#/explain', 'explain one'), '.'),
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

function cellsOf({ at, clientIp, source, reason, userAgent, authenticated, jobId }) {
  const remedy = remedyFor(reason);
  return [
    moment(at),
    h('span', { class: 'mono' }, clientIp ?? 'not readable'),
    source ?? '–',
    h(
      'div',
      {},
      `${capital(reasonInWords(reason) ?? 'no reason recorded')}.`,
      remedy && h('p', { class: 'detail' }, remedy),
    ),
    authenticated
      ? h('div', {}, 'Authenticated sender', h('p', { class: 'detail' }, jobLink(jobId)))
      : h('div', {}, 'Stranger', userAgent && h('p', { class: 'detail' }, userAgent)),
    clientIp &&
      !reason.startsWith('sign-in-') &&
      link(
        to('explain', { source, address: clientIp }),
        'Explain',
        h('span', { class: 'unseen' }, ` requests from ${clientIp}`),
      ),
  ];
}

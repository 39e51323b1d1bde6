import { act } from '../lib/actions.js';
import { get, send } from '../lib/api.js';
import { ask } from '../lib/dialog.js';
import { h, link } from '../lib/dom.js';
import { bytes, count } from '../lib/format.js';
import { emptyPanel, heading, jobLink, moment, outcomeBadge, table } from '../lib/panels.js';
import { to, toJob } from '../lib/route.js';
import { capital } from '../lib/story.js';
import { failingJobs } from '../lib/verdict.js';
import { reasonInWords, remedyFor } from '../lib/words.js';
import { refetchJob } from './job-actions.js';

/** What went wrong and is not repaired yet, each with its cause and the button that repairs it. */
export function failuresView(screen) {
  screen.start('Failures');
  const again = screen.keepFresh(6000, async (signal) => {
    const [quarantine, { failures, counts }] = await Promise.all([
      get('/quarantine', { query: { limit: 100 }, signal }),
      get('/failures', { query: { limit: 50 }, signal }),
    ]);
    screen.render(
      heading('Failures'),
      failedSection(failures, failingJobs(counts) > failures.length, () => again()),
      quarantineSection(quarantine, () => again()),
    );
  });
}

function failedSection(failures, more, again) {
  return h(
    'section',
    { 'aria-labelledby': 'failed', 'data-key': 'failed' },
    h('h2', { id: 'failed' }, 'Jobs'),
    failures.length === 0
      ? emptyPanel(
          'No job is failing.',
          h(
            'p',
            {},
            'What reconcile cannot fetch, what was refused after signing in, and conflicts appear here.',
          ),
        )
      : table({
          caption: 'Failing jobs',
          columns: ['When', 'Job', 'State', 'Cause', 'Repair'],
          rows: failures.map((line) => ({ key: line.jobId, cells: failureCells(line, again) })),
        }),
    (more || failures.length > 3) && together(failures, more),
  );
}

function together(failures, more) {
  const jobs = failures.filter(({ outcome }) => outcome !== 'conflict').map(({ jobId }) => jobId);
  const label = more ? 'Refetch these together with a replay' : 'Refetch them together with a replay';
  return h(
    'p',
    {},
    link(to('replays', { kind: 'refetch', jobs: jobs.join(' ') }), label),
    more && ', then look for further ones here',
    '.',
  );
}

function failureCells(line, again) {
  const cause = reasonInWords(line.reason) ?? CAUSES[line.outcome] ?? 'no cause was recorded';
  const remedy = remedyFor(line.reason);
  return [
    moment(line.receivedAt),
    jobLink(line.jobId),
    outcomeBadge(line.outcome),
    h('div', {}, `${capital(cause)}.`, remedy && h('p', { class: 'detail' }, remedy)),
    repairOf(line, again),
  ];
}

const CAUSES = { conflict: 'different bytes came for the same artefact; both are kept' };

function repairOf({ outcome, jobId }, again) {
  const named = h('span', { class: 'unseen' }, ` ${jobId}`);
  if (outcome === 'conflict') return link(toJob(jobId), 'Compare', named);
  if (outcome === 'unrecoverable') return link(toJob(jobId), 'Import', named);
  return h(
    'button',
    {
      type: 'button',
      class: 'plain small',
      onclick: (event) => refetchJob(event.currentTarget, jobId, again),
    },
    'Refetch',
    named,
  );
}

function quarantineSection({ quarantine, nextCursor }, again) {
  return h(
    'section',
    { 'aria-labelledby': 'quarantine', 'data-key': 'quarantine' },
    h('h2', { id: 'quarantine' }, 'Quarantine'),
    quarantine.length === 0
      ? emptyPanel(
          'Quarantine is empty.',
          h('p', {}, 'Callbacks that authenticate but cannot be decoded would wait here, byte for byte.'),
        )
      : table({
          caption: 'Bodies in quarantine',
          columns: ['When', 'Job', 'Size', 'Cause', 'Repair'],
          rows: quarantine.map((body) => ({ key: body.deliveryId, cells: bodyCells(body, again) })),
        }),
    (nextCursor !== null || quarantine.length > 3) &&
      h(
        'p',
        {},
        `${count(quarantine.length)}${nextCursor === null ? '' : ' and more'} are waiting. `,
        link('#/replays?kind=release', 'Release them together with a replay'),
        '.',
      ),
  );
}

function bodyCells(body, again) {
  const { deliveryId, receivedAt, jobId, bytes: size, reason, source } = body;
  const named = h('span', { class: 'unseen' }, ` the body of job ${jobId}`);
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
    h(
      'div',
      { class: 'buttons' },
      link(`#/quarantine/${encodeURIComponent(deliveryId)}`, 'Look', named),
      h(
        'button',
        {
          type: 'button',
          class: 'plain small',
          onclick: (event) => releaseBody(event.currentTarget, deliveryId, again),
        },
        'Release',
        h('span', { class: 'unseen' }, ` the body of job ${jobId}`),
      ),
    ),
  ];
}

/** Puts a quarantined body through today's decoder and configuration. */
export async function releaseBody(button, deliveryId, again) {
  const agreed = await ask({
    title: 'Release this body?',
    body: h(
      'p',
      {},
      'It goes through today’s decoder and configuration as if it had just arrived. If it still cannot be decoded, it stays where it is.',
    ),
    confirm: 'Release',
  });
  if (agreed === null) return;
  await act(button, async () => {
    const result = await send('POST', `/quarantine/${encodeURIComponent(deliveryId)}/release`, agreed);
    return `Released: ${(result?.items ?? []).length === 0 ? 'nothing had to be stored' : `${count(result.items.length, 'item')} stored`}.`;
  });
  await again();
}

import { act } from '../lib/actions.js';
import { adviceFor } from '../lib/advice.js';
import { get, send } from '../lib/api.js';
import { copyButton } from '../lib/copy-button.js';
import { h, kept, link } from '../lib/dom.js';
import { bytes, count, instantOfLocal } from '../lib/format.js';
import { knownNames, nameOptions } from '../lib/known-names.js';
import { choices, emptyPanel, field, heading, instantField, jobLink, moment, table } from '../lib/panels.js';
import { OUTCOME_NAMES, outcomeOf } from '../lib/words.js';
import { progressOf, stateBadge } from './replay.js';

/** Ordering many repairs at once: choose, preview, start, watch. */
export function replaysView(screen) {
  screen.start('Replays');
  screen.keepFresh(3000, async (signal) => {
    const [names, { replays }] = await Promise.all([
      knownNames(),
      get('/replays', { query: { limit: 50 }, signal }),
    ]);
    screen.render(
      heading('Replays'),
      h(
        'p',
        { class: 'prose', 'data-key': 'about' },
        'A replay repairs many jobs at once: it fetches them from the service, or decodes quarantined bodies with the current decoder and configuration. Running it twice is harmless.',
      ),
      newReplay(screen.route.query, names),
      listSection(replays),
    );
  });
}

function newReplay(query, names) {
  return kept('section', { 'aria-labelledby': 'new-replay', 'data-key': 'form' }, String(query), () => {
    const preview = h('div', { 'aria-live': 'polite' });
    return [h('h2', { id: 'new-replay' }, 'New replay'), replayForm(query, names, preview), preview];
  });
}

function listSection(replays) {
  return h(
    'section',
    { 'aria-labelledby': 'replays', 'data-key': 'list' },
    h('h2', { id: 'replays' }, 'Earlier replays'),
    replays.length === 0
      ? emptyPanel(
          'No replay was started yet.',
          h(
            'p',
            {},
            'Fill in the form above. The preview shows what would happen before anything is changed.',
          ),
        )
      : table({
          caption: 'Replays',
          columns: ['Started', 'Kind', 'State', 'Progress', 'By', 'Replay'],
          rows: replays.map((replay) => ({ key: replay.replayId, cells: cellsOf(replay) })),
        }),
  );
}

function cellsOf(replay) {
  const { replayId, createdAt, startedAt, selector, actor, reason } = replay;
  return [
    moment(createdAt ?? startedAt),
    selector?.kind ?? '–',
    stateBadge(replay.state),
    progressOf(replay),
    h('div', {}, actor ?? '–', reason && h('p', { class: 'detail' }, reason)),
    h(
      'span',
      { class: 'id' },
      link(`#/replays/${encodeURIComponent(replayId)}`, h('span', { class: 'mono' }, replayId)),
      copyButton(replayId, `replay id ${replayId}`),
    ),
  ];
}

const KINDS = [
  ['refetch', 'Refetch jobs from the service'],
  ['release', 'Release quarantined bodies'],
];

function replayForm(query, names, preview) {
  const value = (name) => query.get(name) ?? '';
  const forget = () => preview.replaceChildren();
  return h(
    'form',
    { class: 'panel filters', onsubmit: (event) => showPreview(event, preview), oninput: forget },
    field('replay-kind', 'What to do', choices('kind', KINDS, value('kind') || 'refetch')),
    field(
      'replay-outcome',
      'Outcome',
      choices(
        'outcome',
        [['', 'Any'], ...OUTCOME_NAMES.map((name) => [name, outcomeOf(name).word])],
        value('outcome'),
      ),
    ),
    field(
      'replay-region',
      'Region',
      choices('region', nameOptions(names.regions, value('region')), value('region')),
    ),
    field(
      'replay-source',
      'Source',
      choices('source', nameOptions(names.sources, value('source')), value('source')),
    ),
    field(
      'replay-status',
      'Callback status',
      choices('status', nameOptions(names.statuses, value('status')), value('status')),
    ),
    instantField('replay-since', 'since', 'Since', value('since')),
    instantField('replay-until', 'until', 'Until', value('until')),
    field(
      'replay-failed-of',
      'Failed in replay',
      h('input', {
        name: 'failedOf',
        size: 28,
        value: value('failedOf'),
        autocomplete: 'off',
        spellcheck: 'false',
      }),
    ),
    field(
      'replay-jobs',
      'Job ids, separated by spaces or lines',
      h('textarea', { name: 'jobs', rows: 2, spellcheck: 'false' }, value('jobs')),
    ),
    h('div', { class: 'buttons' }, h('button', { type: 'submit' }, 'Preview')),
  );
}

/** The selector a form describes; empty fields select everything. */
function selectorOf({ elements }) {
  const jobs = elements.jobs.value.split(/[\s,]+/).filter(Boolean);
  const texts = ['failedOf', 'source', 'region', 'status', 'outcome'].map((name) => [
    name,
    elements[name].value.trim() || undefined,
  ]);
  return {
    kind: elements.kind.value,
    ...(jobs.length > 0 ? { jobs } : {}),
    since: instantOfLocal(elements.since.value),
    until: instantOfLocal(elements.until.value),
    ...Object.fromEntries(texts),
  };
}

async function showPreview(event, preview) {
  event.preventDefault();
  const form = event.currentTarget;
  const selector = selectorOf(form);
  try {
    const found = await send('POST', '/replays', { selector, dryRun: true });
    preview.replaceChildren(previewPanel(selector, found));
  } catch (error) {
    preview.replaceChildren(
      h(
        'div',
        { class: 'panel bad' },
        h('p', { class: 'lead' }, error.title),
        h('p', {}, error.message),
        h('p', {}, adviceFor(error)),
      ),
    );
  }
}

function previewPanel(selector, found) {
  const unit = selector.kind === 'release' ? ['body', 'bodies'] : ['job', 'jobs'];
  if (found.count === 0)
    return emptyPanel(
      'Nothing would be done.',
      h('p', {}, 'No record matches. Widen the time or clear a field.'),
    );
  const reason = h('input', { name: 'reason', required: true, maxlength: 500, autocomplete: 'off' });
  return h(
    'form',
    { class: 'panel', onsubmit: (event) => start(event, selector, reason) },
    h(
      'p',
      { class: 'lead' },
      `Would ${selector.kind === 'release' ? 'release' : 'refetch'} ${count(found.count, ...unit)}${found.bytes ? `, ${bytes(found.bytes)}` : ''}.`,
    ),
    jobList(found),
    field('replay-reason', 'Reason (kept in the ledger)', reason),
    h(
      'div',
      { class: 'buttons' },
      h('button', { type: 'submit' }, `Start with ${count(found.count, ...unit)}`),
    ),
  );
}

function jobList({ jobs, count: all }) {
  const ids = jobs.map((job) => (typeof job === 'string' ? job : job.jobId)).filter(Boolean);
  return h(
    'details',
    {},
    h('summary', {}, ids.length < all ? `The first ${count(ids.length)}` : 'All of them'),
    h(
      'ul',
      { class: 'job-ids' },
      ids.map((id) => h('li', {}, jobLink(id))),
    ),
  );
}

async function start(event, selector, reason) {
  event.preventDefault();
  await act(event.currentTarget.querySelector('button'), async () => {
    const { replayId } = await send('POST', '/replays', {
      selector,
      dryRun: false,
      reason: reason.value.trim(),
    });
    location.hash = `#/replays/${encodeURIComponent(replayId)}`;
    return null;
  });
}

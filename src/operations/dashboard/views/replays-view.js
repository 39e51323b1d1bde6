import { get, post } from '../lib/api/admin-api.js';
import { canRefetch, may } from '../lib/api/session.js';
import { submitButton } from '../lib/elements/button.js';
import { h, kept, link } from '../lib/elements/dom.js';
import { choices, field, textOf } from '../lib/elements/field.js';
import {
  contextFilter,
  filterField,
  knownNames,
  lineFilters,
  optionsOf,
} from '../lib/elements/filter-form.js';
import { loadMore } from '../lib/elements/load-more.js';
import {
  emptyPanel,
  heading,
  idText,
  indexNote,
  jobList,
  moment,
  problemPanel,
  section,
} from '../lib/elements/panels.js';
import { runAction } from '../lib/elements/run-action.js';
import { table } from '../lib/elements/table.js';
import { toReplay } from '../lib/screen/route.js';
import { bytes, count, instantOfLocal } from '../lib/text/format.js';
import { noRefetch } from './job/job-actions.js';
import { progressOf, REPLAY_KINDS, startReplay, stateBadge } from './replay-view.js';

/** @import { Names, Replay, ReplayPreview, ReplaySelector } from '../lib/api/api-answers.js' */
/** @import { FormEvent } from '../lib/elements/element-types.js' */
/** @import { Option } from '../lib/elements/field.js' */
/** @import { Filter, FilterValues } from '../lib/elements/filter-form.js' */
/** @import { ShownRows } from '../lib/elements/load-more.js' */
/** @import { Refresh, Screen } from '../lib/screen/screen.js' */

/**
 * Repairs many jobs at once: select, preview, start, watch.
 * @param {Screen} screen
 */
export function replaysView(screen) {
  const rows = { shown: 20 };
  screen.start('Replays');
  const again = screen.keepFresh(3000, async (signal) => {
    const [names, { replays, nextCursor, index }] = await Promise.all([
      knownNames(),
      get('/replays', { query: { limit: rows.shown }, signal }),
    ]);
    screen.render(
      heading('Replays', link('#/reconcile', 'Reconcile')),
      h(
        'p',
        { class: 'prose', 'data-key': 'about' },
        'A replay repairs many jobs at once: it fetches them from the service, decodes quarantined bodies with the current decoder and configuration, or sends events to a subscriber again. It can be repeated safely.',
      ),
      may('repair') && newReplay(screen.route.query, names),
      listSection(replays, rows, nextCursor, () => again()),
      indexNote(index),
    );
  });
}

/** @param {URLSearchParams} query @param {Names} names */
function newReplay(query, names) {
  return kept('section', { 'aria-labelledby': 'new-replay', 'data-key': 'form' }, String(query), () => {
    const preview = h('div', { 'aria-live': 'polite' });
    return [
      h('h2', { id: 'new-replay' }, 'New replay'),
      noRefetch(),
      replayForm(query, names, preview),
      preview,
    ];
  });
}

/** @param {readonly Replay[]} replays @param {ShownRows} rows @param {string | null} nextCursor @param {Refresh} again */
function listSection(replays, rows, nextCursor, again) {
  return section(
    { id: 'replays', title: 'Earlier replays', key: 'list', look: 'compact' },
    replays.length === 0
      ? emptyPanel(
          'No replay was started yet.',
          may('repair') &&
            h(
              'p',
              {},
              'Fill in the form above. The preview shows what a replay would do before anything is changed.',
            ),
        )
      : table('Replays', replays, ({ replayId }) => replayId, [
          { name: 'Started', cell: ({ createdAt }) => moment(createdAt) },
          { name: 'Kind', cell: ({ selector }) => REPLAY_KINDS[selector.kind] },
          { name: 'State', cell: stateBadge },
          { name: 'Progress', cell: progressOf },
          { name: 'By', cell: orderedBy },
          { name: 'Replay', cell: ({ replayId }) => idText('replay', replayId, toReplay(replayId)) },
        ]),
    loadMore('replays', rows, nextCursor, again),
  );
}

/** @param {Replay} replay */
function orderedBy({ actor, reason }) {
  return h('div', {}, actor, reason && h('p', { class: 'detail' }, reason));
}

/** @type {Option[]} */
const EVENTS = [
  ['', 'All'],
  ['true', 'Not sent'],
];

/** Outcomes of lines that are no events. */
const WITHOUT_EVENT = ['read', 'signed-in', 'sign-in-failed', 'credential-checked'];

/** @param {URLSearchParams} query @param {Names} names @param {HTMLElement} preview */
function replayForm(query, names, preview) {
  /** @param {string} name */
  const value = (name) => query.get(name) ?? '';
  const clearPreview = () => preview.replaceChildren();
  /** @type {Option[]} */
  const kinds = Object.entries(REPLAY_KINDS).filter(
    ([kind]) => (kind !== 'refetch' || canRefetch()) && (kind !== 'notify' || names.subscribers.length > 0),
  );
  return h(
    'form',
    { class: 'panel filters', onsubmit: (event) => showPreview(event, preview), oninput: clearPreview },
    field('replay-kind', 'What to do', choices('kind', kinds, value('kind'))),
    replayFilters(names, Object.fromEntries(query)).map((filter) =>
      filterField(`replay-${filter.name}`, filter, value(filter.name)),
    ),
    field(
      'replay-jobs',
      'Job ids, separated by spaces or lines',
      h('textarea', { name: 'jobs', rows: 2, spellcheck: 'false' }, value('jobs')),
    ),
    submitButton('Preview'),
  );
}

/** @param {Names} names @param {FilterValues} [values] @returns {Filter[]} */
export function replayFilters(names, values = {}) {
  const outcomes = names.outcomes.filter((name) => !WITHOUT_EVENT.includes(name));
  const { subscribers } = names;
  /** @type {Filter[]} */
  const ofEvents = [
    { name: 'subscriber', label: 'Subscriber', takes: optionsOf(subscribers, values.subscriber) },
    { name: 'dead', label: 'Events', takes: EVENTS },
  ];
  return [
    ...(subscribers.length === 0 ? [] : ofEvents),
    ...lineFilters(['source', 'region', 'status', 'outcome'], { ...names, outcomes }, values),
    ...contextFilter(names, values.context),
    { name: 'since', label: 'Since', takes: 'instant' },
    { name: 'until', label: 'Until', takes: 'instant' },
  ];
}

/**
 * The selector of a form; empty fields do not restrict it.
 * @param {HTMLFormElement} form @returns {ReplaySelector}
 */
function selectorOf(form) {
  const text = (/** @type {string} */ name) => textOf(form, name) || undefined;
  return {
    kind: kindOf(textOf(form, 'kind')),
    subscriber: text('subscriber'),
    dead: text('dead') === undefined ? undefined : true,
    jobs: text('jobs')
      ?.split(/[\s,]+/)
      .filter(Boolean),
    since: instantOfLocal(textOf(form, 'since')),
    until: instantOfLocal(textOf(form, 'until')),
    source: text('source'),
    region: text('region'),
    status: text('status'),
    outcome: text('outcome'),
    context: text('context'),
  };
}

/** @param {string} text @returns {ReplaySelector['kind']} */
function kindOf(text) {
  return text === 'release' || text === 'notify' ? text : 'refetch';
}

/** @param {FormEvent} event @param {HTMLElement} preview */
async function showPreview(event, preview) {
  event.preventDefault();
  const form = event.currentTarget;
  const selector = selectorOf(form);
  try {
    const found = await post('/replays', { selector, dryRun: true });
    if ('count' in found) preview.replaceChildren(previewPanel(selector, found));
  } catch (error) {
    preview.replaceChildren(problemPanel(error));
  }
}

/** @type {Record<ReplaySelector['kind'], [verb: string, one: string, many: string]>} */
const WORK = {
  refetch: ['refetch', 'job', 'jobs'],
  release: ['release', 'body', 'bodies'],
  notify: ['send', 'event', 'events'],
};

/** @param {ReplaySelector} selector @param {ReplayPreview} found */
function previewPanel(selector, found) {
  const [verb, one, many] = WORK[selector.kind];
  const number = count(found.count, one, many);
  if (found.count === 0)
    return emptyPanel(`No ${one} matches.`, h('p', {}, 'Choose a longer time or clear a field.'));
  const reason = h('input', { name: 'reason', required: true, maxlength: 500, autocomplete: 'off' });
  return h(
    'form',
    { class: 'panel', onsubmit: (event) => start(event, selector, reason) },
    h('p', { class: 'lead' }, `Would ${verb} ${number}${found.bytes ? `, ${bytes(found.bytes)}` : ''}.`),
    jobList(
      found.jobs.length < NAMED_JOBS ? 'The jobs' : `The first ${count(found.jobs.length)} jobs`,
      found.jobs,
    ),
    field('replay-reason', 'Reason (recorded in the ledger)', reason),
    submitButton(`Start with ${number}`),
  );
}

/** Upper bound of the jobs that a preview names. */
const NAMED_JOBS = 100;

/** @param {FormEvent} event @param {ReplaySelector} selector @param {HTMLInputElement} reason */
async function start(event, selector, reason) {
  event.preventDefault();
  const button = event.currentTarget.querySelector('button');
  await runAction(button, () => startReplay({ selector, reason: reason.value.trim() }));
}

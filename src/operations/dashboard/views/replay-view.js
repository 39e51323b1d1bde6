import { get, post, remove } from '../lib/api/admin-api.js';
import { may } from '../lib/api/session.js';
import { button } from '../lib/elements/button.js';
import { h, link } from '../lib/elements/dom.js';
import { fact, heading, idText, jobLink, moment, outcomeBadge, section } from '../lib/elements/panels.js';
import { confirmed } from '../lib/elements/run-action.js';
import { status } from '../lib/elements/status.js';
import { table } from '../lib/elements/table.js';
import { toReplay } from '../lib/screen/route.js';
import { capital, count } from '../lib/text/format.js';
import { own } from '../lib/text/ledger-terms.js';
import { stepsAfterReplay } from '../vendor/next-steps.js';

/** @import { Replay, ReplayInFull, ReplaySelector } from '../lib/api/api-answers.js' */
/** @import { Tone } from '../lib/elements/status.js' */
/** @import { Refresh, Screen } from '../lib/screen/screen.js' */

/** @type {Record<Replay['selector']['kind'], string>} */
export const REPLAY_KINDS = {
  refetch: 'Refetch jobs from the service',
  release: 'Release quarantined bodies',
  notify: 'Send events to a subscriber again',
};

/** @type {Record<string, [Tone, string]>} */
const STATES = {
  running: ['busy', 'Running'],
  done: ['good', 'Done'],
  cancelled: ['neutral', 'Cancelled'],
  interrupted: ['notice', 'Interrupted'],
};

/**
 * A replay that ended is only as good as its items.
 * @param {Pick<Replay, 'state' | 'total' | 'done' | 'failed'>} replay
 */
export function stateBadge({ state, total, done, failed }) {
  if (state === 'done' && failed > 0)
    return done === 0
      ? status('bad', `Failed: all ${count(total)}`)
      : status('notice', `Done, ${count(failed)} of ${count(total)} failed`);
  const [tone, word] = own(STATES, state) ?? ['neutral', state];
  return status(tone, word);
}

/**
 * `done` items succeeded and `failed` ones did not; both are finished.
 * @param {Replay} replay
 */
export function progressOf({ total, done, failed }) {
  const finished = done + failed;
  const label = `${count(finished)} of ${count(total)}${failed > 0 ? `, ${count(failed)} failed` : ''}`;
  return h(
    'div',
    { class: 'progress' },
    h('progress', { max: Math.max(1, total), value: finished, 'aria-label': label }),
    h('span', {}, label),
  );
}

/** Starts a replay and opens its page. @param {{selector: ReplaySelector, reason?: string}} order */
export async function startReplay(order) {
  const started = await post('/replays', order);
  if ('replayId' in started) location.hash = toReplay(started.replayId);
  return null;
}

/**
 * One replay: its progress, its outcomes, and a button to cancel it.
 * @param {Screen} screen
 */
export function replayView(screen) {
  const id = screen.route.id;
  screen.start(`Replay ${id}`);
  const again = screen.keepFresh(1500, async (signal) => {
    const replay = await get(`/replays/${encodeURIComponent(id)}`, { signal });
    screen.render(
      heading('Replay', stateBadge(replay)),
      progressOf(replay),
      factsOf(replay),
      outcomesOf(replay),
      failuresOf(replay),
      h(
        'div',
        { class: 'buttons', 'data-key': 'actions' },
        replay.state === 'running' && may('repair') && cancelButton(id, () => again()),
        link('#/replays', 'All replays'),
      ),
    );
  });
}

/** @param {Replay} replay */
function factsOf({ replayId, selector, createdAt, finishedAt, actor, reason }) {
  const chosen = Object.entries(selector).filter(
    ([name, value]) => name !== 'kind' && value !== null && value !== undefined && String(value) !== '',
  );
  return h(
    'dl',
    { class: 'facts', 'data-key': 'facts' },
    fact('Replay', idText('replay', replayId, null)),
    fact('What', REPLAY_KINDS[selector.kind]),
    chosen.map(([name, value]) => fact(own(LABELS, name) ?? capital(name), chosenInWords(name, value))),
    fact('Started', moment(createdAt)),
    finishedAt && fact('Ended', moment(finishedAt)),
    actor && fact('By', actor),
    reason && fact('Reason', reason),
  );
}

/** @type {Record<string, string>} */
const LABELS = { dead: 'Only' };

/** @param {string} name @param {string | boolean | readonly string[]} value */
function chosenInWords(name, value) {
  if (name === 'dead') return 'events that were not sent';
  if (name === 'subscriber') return link('#/subscribers', String(value));
  if (name === 'since' || name === 'until') return moment(String(value));
  if (!Array.isArray(value)) return String(value);
  return `${value.slice(0, 20).join(', ')}${value.length > 20 ? '…' : ''}`;
}

/**
 * The failed items with their reasons.
 * @param {ReplayInFull} replay
 */
function failuresOf({ failures, failed, outcomes }) {
  if (failures.length === 0) return null;
  return section(
    { id: 'failed-items', title: 'Failed items' },
    table('Items that failed', failures, ({ item }) => item, [
      { name: 'Job', cell: ({ jobId }) => jobLink(jobId) },
      { name: 'Outcome', cell: ({ outcome }) => outcomeBadge(outcome) },
      { name: 'Reason', cell: ({ reason }) => reason ?? 'No reason was recorded.' },
    ]),
    failed > failures.length &&
      h('p', { class: 'quiet' }, `The first ${count(failures.length)} of ${count(failed)}.`),
    stepsAfterReplay(outcomes).map(({ words }) => h('p', {}, words)),
  );
}

/** @param {Replay} replay */
function outcomesOf({ outcomes, state }) {
  const entries = Object.entries(outcomes).filter(([, number]) => number > 0);
  if (entries.length === 0)
    return h(
      'p',
      { class: 'quiet', 'data-key': 'outcomes' },
      state === 'running' ? 'No item is finished yet.' : 'No item had to be processed.',
    );
  return h(
    'ul',
    { class: 'outcomes', 'data-key': 'outcomes' },
    entries.map(([name, number]) => h('li', { 'data-key': name }, outcomeBadge(name), ` ${count(number)}`)),
  );
}

/** @param {string} id @param {Refresh} again */
function cancelButton(id, again) {
  const cancel = confirmed(
    () => ({
      title: 'Cancel this replay?',
      body: 'Items in progress are completed; the others are not processed. You can start the replay again later.',
      confirm: 'Cancel the replay',
      askReason: false,
    }),
    async () => {
      await remove(`/replays/${encodeURIComponent(id)}`);
      return 'The replay is being cancelled.';
    },
    again,
  );
  return button('Cancel replay…', cancel, 'plain');
}

import { act } from '../lib/actions.js';
import { get, send } from '../lib/api.js';
import { ask } from '../lib/dialog.js';
import { h, link } from '../lib/dom.js';
import { count } from '../lib/format.js';
import { fact, heading, moment, outcomeBadge } from '../lib/panels.js';
import { status } from '../lib/status.js';

const STATES = {
  running: ['busy', 'Running'],
  done: ['good', 'Done'],
  cancelled: ['neutral', 'Cancelled'],
  interrupted: ['notice', 'Interrupted'],
};

export function stateBadge(state) {
  return status(...(Object.hasOwn(STATES, state) ? STATES[state] : ['neutral', String(state)]));
}

/** `done` went well, `failed` did not; both are behind. */
export function progressOf({ total, done, failed }) {
  const behind = done + failed;
  const label = `${count(behind)} of ${count(total)}${failed > 0 ? `, ${count(failed)} failed` : ''}`;
  return h(
    'div',
    { class: 'progress' },
    h('progress', { max: Math.max(1, total), value: behind, 'aria-label': label }),
    h('span', {}, label),
  );
}

/** One replay: how far it is, what came of it, and the way to stop it. */
export function replayView(screen) {
  const id = screen.route.id;
  screen.start(`Replay ${id}`);
  const again = screen.keepFresh(1500, async (signal) => {
    const replay = await get(`/replays/${encodeURIComponent(id)}`, { signal });
    screen.render(
      heading('Replay', stateBadge(replay.state)),
      progressOf(replay),
      factsOf(replay),
      outcomesOf(replay),
      h(
        'div',
        { class: 'buttons', 'data-key': 'actions' },
        replay.state === 'running' && cancelButton(id, () => again()),
        link('#/replays', 'All replays'),
      ),
    );
  });
}

function factsOf({ selector, createdAt, startedAt, finishedAt, actor, reason }) {
  const chosen = Object.entries(selector ?? {}).filter(
    ([name, value]) => name !== 'kind' && value !== null && value !== undefined && String(value) !== '',
  );
  return h(
    'dl',
    { class: 'facts', 'data-key': 'facts' },
    selector && fact('Kind', selector.kind),
    chosen.map(([name, value]) =>
      fact(
        name,
        Array.isArray(value)
          ? `${value.slice(0, 20).join(', ')}${value.length > 20 ? '…' : ''}`
          : String(value),
      ),
    ),
    (createdAt ?? startedAt) && fact('Started', moment(createdAt ?? startedAt)),
    finishedAt && fact('Ended', moment(finishedAt)),
    actor && fact('By', actor),
    reason && fact('Reason', reason),
  );
}

function outcomesOf({ outcomes, state }) {
  const entries = Object.entries(outcomes ?? {}).filter(([, number]) => number > 0);
  if (entries.length === 0)
    return h(
      'p',
      { class: 'quiet', 'data-key': 'outcomes' },
      state === 'running' ? 'Nothing is finished yet.' : 'Nothing had to be done.',
    );
  return h(
    'ul',
    { class: 'outcomes', 'data-key': 'outcomes' },
    entries.map(([name, number]) => h('li', { 'data-key': name }, outcomeBadge(name), ` ${count(number)}`)),
  );
}

function cancelButton(id, again) {
  const cancel = async (event) => {
    const button = event.currentTarget;
    const agreed = await ask({
      title: 'Cancel this replay?',
      body: h('p', {}, 'What is under way is finished; the rest is left as it is. It can be ordered again.'),
      confirm: 'Cancel the replay',
      askReason: false,
    });
    if (agreed === null) return;
    await act(button, async () => {
      await send('DELETE', `/replays/${encodeURIComponent(id)}`);
      return 'The replay is being cancelled.';
    });
    await again();
  };
  return h('button', { type: 'button', class: 'plain', onclick: cancel }, 'Cancel replay…');
}

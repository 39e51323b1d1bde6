import { get, post } from '../lib/api/admin-api.js';
import { currentSession, may } from '../lib/api/session.js';
import { h, link } from '../lib/elements/dom.js';
import { emptyPanel, fact, heading, moment, section } from '../lib/elements/panels.js';
import { runAction } from '../lib/elements/run-action.js';
import { status } from '../lib/elements/status.js';
import { count, span } from '../lib/text/format.js';
import { outcomeOf } from '../lib/text/ledger-terms.js';
import { countsOfRun, faultsOfRun, notesOfRun, RECOVERY_NOT_CONFIGURED } from '../vendor/recovery-run.js';

/** @import { Health, ReconcileState } from '../lib/api/api-answers.js' */
/** @import { FormEvent } from '../lib/elements/element-types.js' */
/** @import { Refresh, Screen } from '../lib/screen/screen.js' */

const ABOUT =
  'Reconcile compares the archive with the service’s list of jobs and fetches the results whose callbacks were lost. It can be repeated safely.';

/**
 * Starts a run of reconcile, and shows its progress and what it found.
 * @param {Screen} screen
 */
export function reconcileView(screen) {
  screen.start('Reconcile');
  const again = screen.keepFresh(1500, async (signal) => {
    if (currentSession()?.sources) return screen.render(...ofSomeSources());
    const [state, health] = await Promise.all([get('/reconcile', { signal }), get('/health', { signal })]);
    screen.render(
      heading('Reconcile', state.running !== null && status('busy', 'Running')),
      h('p', { class: 'prose', 'data-key': 'about' }, ABOUT),
      health.service.configured ? startForm(state, again) : emptyPanel(RECOVERY_NOT_CONFIGURED),
      runningPanel(state),
      lastRun(state),
      factsSection(health),
    );
  });
}

function ofSomeSources() {
  return [
    heading('Reconcile'),
    emptyPanel('A run covers all sources, and this token may see some only.', h('p', {}, ABOUT)),
  ];
}

/** @param {ReconcileState} state @param {Refresh} again */
function startForm({ running }, again) {
  if (!may('repair'))
    return h('p', { class: 'quiet', 'data-key': 'start' }, 'This token may not start a run.');
  const onsubmit = async (/** @type {FormEvent} */ event) => {
    event.preventDefault();
    const form = event.currentTarget;
    const full = form.querySelector('input')?.checked ?? false;
    await runAction(form.querySelector('button'), async () => {
      await post('/reconcile', { full });
      return 'The run has started.';
    });
    await again();
  };
  return h(
    'form',
    { class: 'panel', 'data-key': 'start', onsubmit },
    h(
      'label',
      { class: 'check' },
      h('input', { type: 'checkbox', name: 'full' }),
      ' As far back as the service keeps results, wherever earlier runs ended',
    ),
    h(
      'div',
      { class: 'buttons' },
      h('button', { type: 'submit', disabled: running !== null }, 'Reconcile now'),
    ),
  );
}

/** @param {string | null} actor */
function startedBy(actor) {
  return actor === null ? 'on its interval' : `by ${actor}`;
}

/** @param {ReconcileState} state */
function runningPanel({ running, replica }) {
  if (running === null) return null;
  const { startedAt, actor, checked, recovered, failed } = running;
  return section(
    { id: 'running', title: 'In progress', look: 'panel' },
    h(
      'p',
      { role: 'status' },
      `${count(checked, 'job')} checked, ${count(recovered)} recovered${failed > 0 ? `, ${count(failed)} failed` : ''}`,
    ),
    h('p', { class: 'quiet' }, 'Started ', moment(startedAt), ` ${startedBy(actor)}, in replica ${replica}.`),
  );
}

/** @param {ReconcileState} state */
function lastRun({ last, replica }) {
  if (last === null) return null;
  const counts = countsOfRun(last) ?? [];
  const took = span(Date.parse(last.finishedAt) - Date.parse(last.startedAt));
  return section(
    { id: 'last', title: 'Last run of this replica' },
    h(
      'p',
      { class: 'quiet' },
      'Ended ',
      moment(last.finishedAt),
      ` after ${took}, ${startedBy(last.actor)}, in ${replica}.`,
    ),
    h(
      'dl',
      { class: 'facts' },
      counts.map(([outcome, number]) =>
        fact(outcome === 'not ours' ? 'Not ours' : outcomeOf(outcome).word, count(number)),
      ),
    ),
    notesOfRun(last).map((text) => h('p', {}, `${text}.`)),
    faultsOfRun(last).map((text) => h('p', {}, status('bad', text))),
    link('#/failures', 'Failures'),
  );
}

/** What is known of all replicas. @param {Health} health */
function factsSection({ reconcile, service }) {
  return section(
    { id: 'known', title: 'All replicas' },
    h(
      'dl',
      { class: 'facts' },
      fact('Last complete run', reconcile?.isWhole ? moment(reconcile.finishedAt) : 'none yet'),
      fact(
        'Automatic runs',
        service.interval === null
          ? 'not in this replica: a CronJob may do it'
          : `every ${span(service.interval)}, from the end of a run`,
      ),
    ),
  );
}

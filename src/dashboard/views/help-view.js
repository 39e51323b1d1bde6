import { h, link } from '../lib/elements/dom.js';
import { emptyPanel, heading } from '../lib/elements/panels.js';
import { isSearchShortcutOn, setSearchShortcut } from '../lib/screen/search-shortcut.js';
import { own } from '../lib/text/ledger-terms.js';

/** @import { Screen } from '../lib/screen/screen.js' */

/**
 * What each tile of the overview means and what to do about it. A step in backticks is a command.
 * @typedef {{title: string, means: string, steps: string[]}} Topic
 * @type {Record<string, Topic>}
 */
const HELP_TOPICS = {
  store: {
    title: 'The store',
    means:
      'The receiver keeps everything in the store. Every few seconds it writes a small object, reads it back and compares it. While that fails, callbacks are answered with 503.',
    steps: [
      'Read the reason on the tile: it is the answer of the store.',
      '`transcript-receiver doctor`',
      'Full disk or bucket quota: make room. Access denied: compare the policy with docs/stores.md. Not reachable: network, endpoint, region.',
      'The service retries a callback for about a minute, then gives up. Once the store works again, fetch those results:',
      '`transcript-receiver reconcile`',
    ],
  },
  receiving: {
    title: 'Receiving',
    means:
      'Ready means that balancers may send callbacks here. Memory in use is the share of the byte budget that bodies in flight hold.',
    steps: [
      'Not ready because of the store: see the store.',
      'Deliveries wait for memory when many large bodies arrive at once. Raise limits.memoryBudget, or add replicas.',
      'Shutting down: nothing to do, another replica takes over.',
    ],
  },
  regions: {
    title: 'Freshness of the regions',
    means:
      'When the last callback of each region of the speech service arrived. A busy region that falls silent either has no jobs, or its callbacks do not reach this receiver.',
    steps: [
      'Open Refusals: a changed egress address or credential shows there.',
      'Ask the service which callbacks should have arrived:',
      '`transcript-receiver reconcile --json`',
      'Check the callback URL of the jobs:',
      '`transcript-receiver notification-config default`',
    ],
  },
  failures: {
    title: 'Failures',
    means:
      'Jobs whose results are missing, refused or in conflict. The service keeps results for 7 days; after that they are lost.',
    steps: [
      'Open Failures: each job has its cause and a button that fetches it again.',
      'When many fail for one cause, check the API key, the region’s address and the service itself:',
      '`transcript-receiver doctor`',
      'Files of a job that the service no longer keeps can be imported on its page. A job that needs nothing more can be acknowledged.',
    ],
  },
  quarantine: {
    title: 'Quarantine',
    means:
      'Bodies of authenticated callbacks that could not be decoded. They are stored byte for byte, and the sender got a success answer, but there is no transcript of them yet.',
    steps: [
      'Open one: it shows what was wrong, and whether the current configuration can decode it.',
      'Correct the configuration or upgrade, then release the bodies one by one, or all of them with a replay.',
      'If a body stays undecodable, refetch the job from the service.',
    ],
  },
  expected: {
    title: 'Expected against received',
    means:
      'Reconcile asks the service which jobs should have notified this receiver, and compares. Every expected job is received, missing or pending: a missing job could not be fetched, a pending one is not due yet.',
    steps: [
      'Open Failures for the causes.',
      'Run reconcile again; running it twice is harmless:',
      '`transcript-receiver reconcile`',
      'Results that the service no longer keeps can only be imported by hand.',
    ],
  },
  reconcile: {
    title: 'Reconcile',
    means:
      'Callbacks get lost: the service gives up after about a minute of failures. Reconcile compares with the service’s list of jobs and fetches what is missing.',
    steps: [
      'The receiver runs it every recovery.interval, once speech.apiKey and speech.regions.<region>.batchUrl are set.',
      'With several replicas set the interval to off and run it as the CronJob of the Kubernetes overlay.',
      'To run it now:',
      '`transcript-receiver reconcile`',
    ],
  },
  credentials: {
    title: 'Credentials of the senders',
    means:
      'Each source accepts any one of its credentials, so that they can be rotated without losing a callback. The last use is taken from the loaded part of the ledger.',
    steps: [
      'When one is about to expire, add a second credential to the source and restart. Then submit jobs with the new auth_headers:',
      '`transcript-receiver notification-config default`',
      'When the old one is no longer used, remove it.',
      'If one has expired and jobs in flight still use it, extend expires by a day.',
    ],
  },
  ledger: {
    title: 'The ledger',
    means:
      'The ledger records every delivery and every repair. All replicas write it to the store; this replica reads the lines of all of them.',
    steps: [
      'While it is loading, figures are not complete; the newest hours come first.',
      'If it cannot be read, the store fails to list or to read: see the store.',
      'Damaged lines were changed or truncated from outside. They are skipped and everything else counts. docs/ledger.md says how to look at them.',
    ],
  },
};

/**
 * The topics, and the setting for the keyboard; or one topic, which is the short form of a runbook.
 * @param {Screen} screen
 */
export function helpView(screen) {
  const { id } = screen.route;
  const topic = own(HELP_TOPICS, id);
  screen.start(topic?.title ?? 'Help');
  if (topic !== undefined) screen.render(...topicPage(topic));
  else screen.render(heading('Help'), id !== '' && unknownTopic(), topicList(), keyboardSetting());
}

/** @param {Topic} topic */
function topicPage({ title, means, steps }) {
  return [
    heading(title),
    h('p', { class: 'prose' }, means),
    h('h2', {}, 'What to do'),
    h(
      'ol',
      { class: 'prose steps' },
      steps.map((step) => h('li', {}, stepOf(step))),
    ),
    h('p', {}, link('#/help', 'All topics'), ' · ', link('#/', 'Overview')),
  ];
}

function unknownTopic() {
  return emptyPanel('There is no help on this topic.');
}

function topicList() {
  const topics = Object.entries(HELP_TOPICS);
  return h(
    'section',
    { 'aria-labelledby': 'topics', 'data-key': 'topics' },
    h('h2', { id: 'topics' }, 'Topics'),
    h(
      'ul',
      { class: 'prose' },
      topics.map(([name, { title }]) => h('li', {}, link(`#/help/${name}`, title))),
    ),
  );
}

function keyboardSetting() {
  return h(
    'section',
    { 'aria-labelledby': 'keyboard', 'data-key': 'keyboard' },
    h('h2', { id: 'keyboard' }, 'Keyboard'),
    h(
      'label',
      {},
      h('input', {
        type: 'checkbox',
        checked: isSearchShortcutOn(),
        onchange: (event) => setSearchShortcut(event.currentTarget.checked),
      }),
      ' Press / to go to the search field',
    ),
    h('p', { class: 'quiet' }, 'This browser remembers the choice.'),
  );
}

/** @param {string} text */
function stepOf(text) {
  const command = /^`(.+)`$/.exec(text);
  return command === null ? text : h('code', { class: 'command' }, command[1]);
}

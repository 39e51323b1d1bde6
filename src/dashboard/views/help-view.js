import { h, link } from '../lib/elements/dom.js';
import { emptyPanel, heading } from '../lib/elements/panels.js';
import { own } from '../lib/text/ledger-terms.js';

/** @import { Screen } from '../lib/screen/screen.js' */

/**
 * What each tile of the overview means and what to do about it. Steps in backticks are commands.
 * @typedef {{title: string, means: string, steps: string[]}} Topic
 * @type {Record<string, Topic>}
 */
const HELP_TOPICS = {
  missing: {
    title: 'A transcript is missing',
    means:
      'Search for the job at the top of the page, by its id, by a part of it, or by a value of its context. Its page says what is known, and what to do next. On a terminal:',
    steps: [
      '`transcript-receiver job 650krlru2e`',
      'Unknown: the id is wrong, the job names another callback URL, or no callback has come through. Open Refusals, and ask the service:',
      '`transcript-receiver doctor`',
      'Missing or Failing: correct what the page names, then fetch the results:',
      '`transcript-receiver refetch 650krlru2e`',
      'Many jobs at once: open Failures, or compare everything with the service:',
      '`transcript-receiver reconcile --since 24h`',
    ],
  },
  store: {
    title: 'The store',
    means:
      'The receiver keeps everything in the store. Every few seconds it writes a small object, reads it back and compares it. While that fails, callbacks are answered with 503.',
    steps: [
      'Read the reason on the tile: it is the store’s error message.',
      '`transcript-receiver doctor`',
      'Full disk or bucket quota: free space. Access denied: compare the policy with docs/stores.md. Not reachable: check network, endpoint and region.',
      'The service retries a callback for about a minute and then gives up. When the store works again, fetch the missing results:',
      '`transcript-receiver reconcile`',
    ],
  },
  receiving: {
    title: 'Receiving',
    means:
      'Ready means that load balancers may send callbacks to this replica. Memory in use is the share of the memory budget that bodies in flight occupy.',
    steps: [
      'Not ready because of the store: see the topic The store.',
      'Deliveries wait for memory while many large bodies arrive at once. Raise limits.memoryBudget, or add replicas.',
      'Shutting down: nothing to do; another replica takes over.',
    ],
  },
  regions: {
    title: 'Freshness of the regions',
    means:
      'When the last callback arrived from each region of the speech service. If a busy region goes silent, it has no jobs, or its callbacks do not reach this receiver.',
    steps: [
      'Open Refusals: callbacks from a new egress address or with a wrong credential are listed there.',
      'Ask the service which callbacks should have arrived:',
      '`transcript-receiver reconcile --json`',
      'Check the callback URL of the jobs:',
      '`transcript-receiver notification-config <source>`',
    ],
  },
  failures: {
    title: 'Failures',
    means:
      'Jobs whose results are missing, rejected or in conflict. The service keeps results for 7 days; after that they are lost.',
    steps: [
      'Open Failures: each job has its cause and a button that repairs it.',
      'If many jobs fail for the same reason, check the API key, the region’s address and the service:',
      '`transcript-receiver doctor`',
      'If the service no longer has the results, import the files on the page of the job. Acknowledge a job that needs no repair.',
    ],
  },
  quarantine: {
    title: 'Quarantine',
    means:
      'Bodies of authenticated callbacks that could not be decoded. They are stored byte for byte and the sender received a success response, but they contain no transcript that can be read yet.',
    steps: [
      'Open a body: its page shows what is wrong and whether the current configuration can decode it.',
      'Correct the configuration or upgrade, then release the bodies one by one, or all of them with a replay.',
      'If a body stays undecodable, refetch the job from the service. A job that is complete settles its bodies.',
      'Dismiss a body that nothing needs, such as that of a test call.',
    ],
  },
  expected: {
    title: 'Expected and received',
    means:
      'Reconcile asks the service which jobs should have notified this receiver and compares them with the archive. An expected job is received, missing (it could not be fetched) or pending (it is not due yet).',
    steps: [
      'Open Failures for the causes.',
      'Run reconcile again; it is idempotent:',
      '`transcript-receiver reconcile`',
      'Results that the service no longer keeps can only be imported.',
    ],
  },
  reconcile: {
    title: 'Reconcile',
    means:
      'Callbacks can be lost: the service gives up after about a minute of retries. Reconcile compares the archive with the service’s list of jobs and fetches the missing results.',
    steps: [
      'The receiver runs it at every recovery.interval if speech.apiKey and speech.regions.<region>.batchUrl are set.',
      'With several replicas, set the interval to off and run the CronJob of the Kubernetes overlay.',
      'To run it now:',
      '`transcript-receiver reconcile`',
    ],
  },
  verify: {
    title: 'Verify',
    means:
      'Verify compares the store with the ledger: every artefact that the ledger records, its size and its hash. The tile shows the last run that looked everywhere, and what runs of the last 35 days found missing or damaged.',
    steps: [
      'The CronJob of the Kubernetes overlay runs it weekly. To run it now, and to read and hash every byte:',
      '`transcript-receiver verify`',
      '`transcript-receiver verify --deep`',
      'The service keeps results for 7 days: until then refetch the jobs, with the link on the tile or with the commands that verify prints.',
      'Copy older artefacts back from a backup of the store. If a loss is final, acknowledge it on the page of the job. The next run no longer counts it.',
    ],
  },
  credentials: {
    title: 'Credentials of the senders',
    means:
      'Each source accepts any of its credentials, so that they can be rotated without losing callbacks. The last use comes from the loaded part of the ledger.',
    steps: [
      'A new secret: add a second credential to the source and restart. Then submit jobs with the auth_headers that this prints:',
      '`transcript-receiver notification-config <source> --credential <name>`',
      'Remove the old credential when the tile Credentials of the overview shows no more use of it: jobs keep the headers they were submitted with.',
      'If a credential has expired and jobs in flight still use it, extend expires by a day.',
      'A secret leaked: docs/security.md.',
    ],
  },
  subscribers: {
    title: 'Subscribers',
    means:
      'HTTP addresses that are sent a signed event when a job was stored, failed or was erased. Events are sent at least once: failed requests are retried for 24 hours. Only the answer 410 ends an event at once.',
    steps: [
      'To add one, set subscribers.<name>.url and secrets, and restart: docs/downstream.md. It is sent what arrives from then on.',
      'Not reachable, or events not sent: send a test event to see what the address answers:',
      '`transcript-receiver doctor`',
      'A new secret: append it to secrets and restart, let the subscriber verify with it, send a test event, then remove the old one. Every event is signed with each.',
      '401 or 403: compare the secrets of both sides. 404 or 410: correct the address. A time-out: the address must answer before it does its work.',
      'When the address works again, send what ended once more, with the button on Subscribers or with a replay:',
      '`transcript-receiver replay notify --subscriber <name> --dead`',
    ],
  },
  ledger: {
    title: 'The ledger',
    means:
      'The ledger records every delivery and every repair. All replicas write to it; each replica reads the lines of all.',
    steps: [
      'While it is loading, the figures are incomplete; the newest hours are loaded first.',
      'If it cannot be read, the store fails to list or to read: see the topic The store.',
      'Damaged lines were changed or truncated outside the receiver. They are skipped. transcript-receiver verify names their files.',
    ],
  },
};

/**
 * One topic, as a short runbook; or the list of topics.
 * @param {Screen} screen
 */
export function helpView(screen) {
  const { id } = screen.route;
  const topic = own(HELP_TOPICS, id);
  screen.start(topic?.title ?? 'Help');
  if (topic !== undefined) screen.render(...topicPage(topic));
  else screen.render(heading('Help'), id !== '' && unknownTopic(), topicList());
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
      withCommands(steps).map((parts) =>
        h(
          'li',
          {},
          parts.map((part) => h('p', {}, stepOf(part))),
        ),
      ),
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

/**
 * A command belongs to the step before it.
 * @param {readonly string[]} steps
 */
function withCommands(steps) {
  /** @type {string[][]} */
  const grouped = [];
  for (const step of steps) {
    const before = step.startsWith('`') ? grouped.at(-1) : undefined;
    if (before === undefined) grouped.push([step]);
    else before.push(step);
  }
  return grouped;
}

/** @param {string} text */
function stepOf(text) {
  const command = /^`(.+)`$/.exec(text);
  return command === null ? text : h('code', { class: 'command' }, command[1]);
}

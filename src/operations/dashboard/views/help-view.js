import { h, link } from '../lib/elements/dom.js';
import { emptyPanel, heading } from '../lib/elements/panels.js';
import { own } from '../lib/text/ledger-terms.js';

/** @import { Topic } from '../lib/api/api-answers.js' */
/** @import { Screen } from '../lib/screen/screen.js' */

/**
 * What each tile of the overview means, and the document that says more. What to do is in the words of the issues.
 * @typedef {{title: string, means: string, document: string}} HelpTopic
 * @type {Record<Topic | 'missing' | 'regions', HelpTopic>}
 */
const HELP_TOPICS = {
  missing: {
    title: 'A transcript is missing',
    means:
      'Search for the job at the top of the page, by its id, by a part of it, or by a value of its context. Its page says what is known, and what to do next. Many jobs at once are under Failures. Callbacks without a valid credential or address are under Refusals alone.',
    document: 'docs/a-transcript-is-missing.md',
  },
  callbacks: {
    title: 'Callbacks',
    means:
      'Whether the callbacks of the speech service are accepted, of all replicas. Rejected ones count when they authenticated, or came from an address that the source admits; other requests do not count. A callback that the service may still retry is not counted for two minutes. Missed are jobs of the last day whose results recovery had to fetch: their callbacks were rejected, or never arrived.',
    document: 'docs/operations.md',
  },
  store: {
    title: 'The store',
    means:
      'The receiver keeps everything in the store. Every few seconds it writes a small object, reads it back and compares it. While that fails, callbacks are answered with 503. The service retries for about a minute and then gives up: when the store works again, reconcile fetches what is missing.',
    document: 'docs/stores.md',
  },
  receiving: {
    title: 'Receiving',
    means:
      'Ready means that load balancers may send callbacks to this replica. Memory in use is the share of the memory budget that bodies in flight occupy.',
    document: 'docs/operations.md',
  },
  regions: {
    title: 'Freshness of the regions',
    means:
      'When the last callback arrived from each region of the speech service. If a busy region goes silent, it has no jobs, or its callbacks do not reach this receiver: look under Refusals for a new egress address or a wrong credential, and run transcript-receiver reconcile.',
    document: 'docs/how-to/add-a-region.md',
  },
  failures: {
    title: 'Failures',
    means:
      'Jobs whose results are missing, rejected or in conflict. The service keeps results for 7 days; after that they are lost, and can only be imported. If many fail for the same reason, run transcript-receiver doctor.',
    document: 'docs/a-transcript-is-missing.md',
  },
  quarantine: {
    title: 'Quarantine',
    means:
      'Bodies of authenticated callbacks that could not be decoded. They are stored byte for byte and the sender received a success response, but they contain no transcript that can be read yet. A body whose job is complete is settled.',
    document: 'docs/replay.md',
  },
  expected: {
    title: 'Expected and received',
    means:
      'Reconcile asks the service which jobs should have notified this receiver and compares them with the archive. An expected job is received, missing (it could not be fetched) or pending (it is not due yet).',
    document: 'docs/recovery.md',
  },
  reconcile: {
    title: 'Reconcile',
    means:
      'Callbacks can be lost: the service gives up after about a minute of retries. Reconcile compares the archive with the service’s list of jobs and fetches the missing results. The receiver runs it at every recovery.interval; with several replicas, a CronJob does. Reconcile, linked from Replays, starts a run at once.',
    document: 'docs/recovery.md',
  },
  verify: {
    title: 'Verify',
    means:
      'Verify compares the store with the ledger: every artefact that the ledger records, its size and its hash. The tile shows the last complete run, and what runs of the last 35 days found missing or damaged. If a loss is final, acknowledge it on the page of the job: the next run no longer counts it.',
    document: 'docs/verify.md',
  },
  credentials: {
    title: 'Credentials of the senders',
    means:
      'Each source accepts any of its credentials, so that they can be rotated without losing callbacks. A new secret: add a second credential to the source and restart. Then submit jobs with the auth_headers that transcript-receiver notification-config <source> --credential <name> prints. Remove the old credential when the tile shows no more use of it: jobs keep the headers they were submitted with.',
    document: 'docs/security.md',
  },
  subscribers: {
    title: 'Subscribers',
    means:
      'HTTP addresses that are sent a signed event when a job was stored, failed or was erased. Events are sent at least once: failed requests are retried for 24 hours. Only the answer 410 ends an event at once. To add one, set subscribers.<name>.url and secrets, and restart. A new secret: append it to secrets and restart, let the subscriber verify with it, then remove the old one; every event is signed with each.',
    document: 'docs/downstream.md',
  },
  ledger: {
    title: 'The ledger',
    means:
      'The ledger records every delivery and every repair. All replicas write to it; each replica reads the lines of all. While it is loading, the figures are incomplete; the newest hours are loaded first.',
    document: 'docs/ledger.md',
  },
};

/**
 * One topic, or the list of topics.
 * @param {Screen} screen
 */
export function helpView(screen) {
  const { id } = screen.route;
  const topic = own(HELP_TOPICS, id);
  screen.start(topic?.title ?? 'Help');
  if (topic !== undefined) screen.render(...topicPage(topic));
  else
    screen.render(heading('Help'), id !== '' && emptyPanel('There is no help on this topic.'), topicList());
}

/** @param {HelpTopic} topic */
function topicPage({ title, means, document }) {
  return [
    heading(title),
    h('p', { class: 'prose' }, means),
    h('p', {}, 'The documents say more: ', h('code', {}, document)),
    h('p', {}, link('#/help', 'All topics'), ' · ', link('#/', 'Overview')),
  ];
}

function topicList() {
  return h(
    'ul',
    { class: 'prose', id: 'topics', 'data-key': 'topics' },
    Object.entries(HELP_TOPICS).map(([name, { title }]) => h('li', {}, link(`#/help/${name}`, title))),
  );
}

/** What each tile of the overview means and what to do about it: `{title, means, steps}`; a step in backticks is typed. */
export const HELP_TOPICS = {
  store: {
    title: 'The store',
    means:
      'Everything is kept in the store. Every few seconds a small object is written, read back and compared; only while that works is a callback answered with success.',
    steps: [
      'Read the reason on the tile: it is the store’s own answer.',
      '`transcript-receiver doctor`',
      'Full disk or bucket quota: make room. Access denied: compare the policy with docs/stores.md. Not reachable: network, endpoint, region.',
      'Senders are answered 503 and try again for about a minute. What they gave up is fetched afterwards:',
      '`transcript-receiver reconcile`',
    ],
  },
  receiving: {
    title: 'Receiving',
    means:
      'Ready means that balancers may send callbacks here. Memory in use is the share of the byte budget that bodies under way hold.',
    steps: [
      'Not ready because of the store: see the store.',
      'Deliveries waiting for memory: many large bodies at once. Raise limits.memoryBudget, or add replicas.',
      'Shutting down: nothing to do, another replica takes over.',
    ],
  },
  regions: {
    title: 'Freshness of the regions',
    means:
      'When the last callback of each region of the speech service arrived. A region that is usually busy and falls silent has either no jobs, or callbacks that do not reach this receiver.',
    steps: [
      'Look at the refusals: a changed egress address or credential shows there.',
      'Ask the service what should have arrived:',
      '`transcript-receiver reconcile --json`',
      'Check the callback URL of the jobs:',
      '`transcript-receiver notification-config default`',
    ],
  },
  failures: {
    title: 'Failures',
    means:
      'Attempts to fetch missing results from the service that did not succeed. The service keeps results for 7 days; after that they are lost.',
    steps: [
      'Open Failures: each has its cause and a button that tries again.',
      'Many of one kind: the API key, the region’s address, or the service itself.',
      '`transcript-receiver doctor`',
      'A job that failed for good can be imported by hand on its page.',
    ],
  },
  quarantine: {
    title: 'Quarantine',
    means:
      'Bodies of authenticated callbacks that could not be decoded. They are safe, byte for byte, and the sender was told so; they are not transcripts yet.',
    steps: [
      'Open one: it says what was wrong, and whether today’s configuration can decode it.',
      'After correcting the configuration or upgrading, release them, one by one or all with a replay.',
      'A body that stays undecodable: refetch the job from the service.',
    ],
  },
  expected: {
    title: 'Expected against received',
    means:
      'Reconcile asks the service which jobs should have notified this receiver and compares. Missing jobs could not be fetched yet, or never can.',
    steps: [
      'Open Failures for the causes.',
      'Run it again; it is harmless to repeat:',
      '`transcript-receiver reconcile`',
      'Results the service no longer keeps can only be imported by hand.',
    ],
  },
  reconcile: {
    title: 'Reconcile',
    means:
      'Callbacks get lost: the service gives up after about a minute of failures. Reconcile closes the gap by asking the service’s own list of jobs.',
    steps: [
      'The receiver runs it by itself every recovery.interval, as soon as speech.apiKey and speech.regions.<region>.batchUrl are set.',
      'With several replicas set the interval to off and run it as the CronJob of the Kubernetes overlay.',
      'By hand, now:',
      '`transcript-receiver reconcile`',
    ],
  },
  credentials: {
    title: 'Credentials of the senders',
    means:
      'Each source accepts any one of its credentials, so that they can be rotated without losing a callback. Last use is counted over the ledger held here.',
    steps: [
      'About to expire: add a second credential to the source and restart, then submit jobs with the new auth_headers.',
      '`transcript-receiver notification-config default`',
      'When the old one is no longer used, remove it.',
      'Expired and still used by jobs under way: extend expires for a day.',
    ],
  },
  ledger: {
    title: 'The ledger',
    means:
      'The record of everything that happened, in the store, written by all replicas. This replica reads along and answers for all.',
    steps: [
      'Loading: wait, the newest hours come first.',
      'Cannot be followed: the store does not list or read; see the store.',
      'Lines that cannot be read were changed or cut from outside; they are skipped, everything else counts. docs/ledger.md tells how to look at them.',
    ],
  },
};

// Loaded by the dashboard as well: whatever this module imports must run in a browser.
import { describeDead } from '../../domain/event-attempts.js';
import { withoutWork } from '../../domain/other-work.js';
import { count, plural } from '../../lib/text/plural.js';
import { clockDifference, remedyOf } from '../../store/store-remedies.js';
import type { Issue, IssueCode, IssueLevel, IssueParams, StoreFailure, Topic } from './issues.js';
import {
  attemptInWords,
  callbacksWithout,
  failuresInWords,
  faultsInWords,
  linesUnreadInWords,
  lossesInWords,
  missedInWords,
  missedRemedy,
  refusedInWords,
  refusedRemedy,
  type ShowTime,
} from './phrases.js';

export interface IssueKind<Params> {
  readonly topic: Topic;
  readonly level: IssueLevel;
  /** Highest level, if it is not fixed. */
  readonly upTo?: IssueLevel;
  /** Whether subscribers to `health.opened` are notified. */
  readonly notified: boolean;
  /** One or two words, for a tile. */
  readonly label: string;
  /** The issue, and since when, in whole sentences. */
  text(params: Params, time: ShowTime): string;
  /** What to do, in whole sentences; null if nothing has to be done. */
  readonly remedy: string | ((params: Params) => string) | null;
}

const quiet = { level: 'warning', notified: false } as const;
const warning = { level: 'warning', notified: true } as const;
const unknown = { level: 'unknown', notified: false } as const;
const failing = { level: 'failing', notified: true } as const;

/** Remedy of issues that only a check on the machine of the receiver explains. */
export const RUN_DOCTOR = 'Run transcript-receiver doctor.';
const SEE_FAILURES = 'See Failures on the page, or run transcript-receiver failures.';
const addressRemedy = ({ status }: { readonly status: number | null }) =>
  `Correct its address or what answers there; ${status === 410 ? 'then replay the events that it answered with 410' : 'events are sent again for 24 hours'}.`;
/** Removes the final full stop: findings of the store probe are whole sentences. */
const inSentence = (reason: string | null) => reason?.replace(/\.$/, '') ?? 'no reason known';
const storeRemedy = ({ condition }: Pick<StoreFailure, 'condition'>) =>
  condition === null ? RUN_DOCTOR : remedyOf(condition);

/** All issues. A new one is an entry here and in `IssueParams`. */
export const ISSUES: { readonly [Code in IssueCode]: IssueKind<IssueParams[Code]> } = {
  'callbacks-refused': {
    topic: 'callbacks',
    ...warning,
    upTo: 'failing',
    label: 'Refused',
    text: refusedInWords,
    remedy: refusedRemedy,
  },
  'callbacks-missed': {
    topic: 'callbacks',
    ...warning,
    upTo: 'failing',
    label: 'Missed',
    text: missedInWords,
    remedy: missedRemedy,
  },
  'store-not-writable': {
    topic: 'store',
    ...failing,
    label: 'Not writable',
    text: ({ reason, since }, time) =>
      `The store cannot be written: ${inSentence(reason)}${since === null ? '' : `; the last check succeeded at ${time(since)}`}. Callbacks are answered 503.`,
    remedy: storeRemedy,
  },
  'store-unreadable': {
    topic: 'store',
    ...failing,
    notified: false,
    label: 'Not readable',
    text: ({ reason }) => `The store cannot be read: ${inSentence(reason)}.`,
    remedy: storeRemedy,
  },
  'store-denied': {
    topic: 'store',
    ...failing,
    label: 'Denied',
    text: ({ prefix, sources, reason, since }, time) =>
      `The store cannot be used below ${prefix} since ${time(since)}: ${reason}. ${callbacksWithout(sources)}`,
    remedy: storeRemedy,
  },
  'work-denied': {
    topic: 'store',
    ...warning,
    label: 'Denied',
    text: ({ prefix, work, reason, since }, time) =>
      `The store cannot be used below ${prefix} since ${time(since)}: ${reason}. ${withoutWork(work)}`,
    remedy: storeRemedy,
  },
  'store-replaced': {
    topic: 'store',
    ...warning,
    label: 'Another store',
    text: ({ was, is, seenAt }, time) =>
      `This is another store than before: ${is === null ? 'it has lost its marker' : `its id is ${is}`}, and it was ${was} at ${time(seenAt)}.`,
    remedy: ({ is }) =>
      `Bring the former one back (mount its volume, restore its bucket, or correct store.url) and restart. If this one is right, ${is ? `set store.id to ${is}, and restart` : 'restart, and set store.id to the id that transcript-receiver doctor names'}.`,
  },
  clock: {
    topic: 'receiving',
    ...failing,
    label: 'Wrong clock',
    text: ({ replica, offsetMs }) =>
      `The clock of ${replica} is ${clockDifference(offsetMs)} the store's. Its callbacks are answered 503.`,
    remedy: ({ replica }) =>
      `Synchronise the clock of the machine of ${replica} (chrony, systemd-timesyncd). If every replica reports this, correct the clock of the store.`,
  },
  'not-ready': {
    topic: 'receiving',
    ...failing,
    notified: false,
    label: 'Not ready',
    text: ({ reason, replica }) =>
      `${replica === undefined ? 'Not' : `${replica} is not`} ready to receive: ${inSentence(reason)}.`,
    remedy: RUN_DOCTOR,
  },
  'replica-silent': {
    topic: 'receiving',
    ...quiet,
    label: 'Silent',
    text: ({ replica, since }, time) =>
      `${replica} has written nothing to the store since ${time(since)}: it was killed, or it is cut off from the store and answers callbacks 503.`,
    remedy: 'If it still runs, see its log. If it does not, this issue closes an hour after its last write.',
  },
  draining: {
    topic: 'receiving',
    ...quiet,
    label: 'Shutting down',
    text: () => 'This replica is shutting down; another one takes over.',
    remedy: null,
  },
  'no-receiver': {
    topic: 'receiving',
    ...quiet,
    label: 'Not running',
    text: ({ since }, time) =>
      since === null
        ? 'No receiver is writing to this store.'
        : `No receiver has written to this store since ${time(since)}.`,
    remedy: 'Start one, or see in its log why it does not write.',
  },
  'memory-short': {
    topic: 'receiving',
    ...quiet,
    label: 'Waiting',
    text: ({ deliveries }) => `${plural(deliveries, 'delivery waits', 'deliveries wait')} for memory.`,
    remedy: 'If this lasts, raise limits.memoryBudget or run more replicas.',
  },
  'ledger-unreadable': {
    topic: 'ledger',
    ...failing,
    notified: false,
    label: 'Not readable',
    text: ({ reason, since }, time) =>
      `The ledger cannot be read${reason === null ? ' either' : `: ${reason}`}. ${since === null ? 'It was never read.' : `What is shown is of ${time(since)}.`}`,
    remedy: (failure) => (failure.reason === null ? 'Repair the store first.' : storeRemedy(failure)),
  },
  'index-behind': {
    topic: 'ledger',
    ...warning,
    label: 'Index behind',
    text: ({ reason, since }, time) =>
      `The index of the ledger lacks what was written${since === null ? '' : ` since ${time(since)}`}: ${reason}. Callbacks are accepted as before.`,
    remedy:
      'Free space on the disk of ledger.index.path (GET /admin/api/health names the file), or set another path.',
  },
  'ledger-loading': {
    topic: 'ledger',
    ...unknown,
    label: 'Loading',
    text: () => 'The ledger is still being read; figures are not complete yet.',
    remedy: null,
  },
  'ledger-lines-unreadable': {
    topic: 'ledger',
    ...quiet,
    label: 'Unreadable lines',
    text: linesUnreadInWords,
    remedy: ({ first }) =>
      first === null
        ? 'Upgrade this replica if others are newer. GET /admin/api/health names the segments (index.missing): restore damaged ones from a backup.'
        : 'GET /admin/api/health names them (index.missing): let this replica read what is there (its mode, a policy), and restore from a backup what is missing. It is read again within the hour.',
  },
  'jobs-failing': {
    topic: 'failures',
    ...failing,
    label: 'To repair',
    text: ({ jobs, outcomes, since }, time) =>
      `${jobs === 1 ? '1 job is' : `${count(jobs)} jobs are`} failing: ${failuresInWords(outcomes)}.${since === null ? '' : ` ${jobs === 1 ? 'It' : 'The oldest'} has been open since ${time(since)}.`}`,
    remedy: SEE_FAILURES,
  },
  'retention-ending': {
    topic: 'failures',
    ...failing,
    label: 'To repair',
    text: ({ ends }, time) => `The service deletes results of failing jobs from ${time(ends)} on.`,
    remedy:
      'Run transcript-receiver reconcile before then, or refetch each: transcript-receiver failures lists them.',
  },
  'results-missing': {
    topic: 'expected',
    ...warning,
    label: 'Missing',
    text: ({ jobs }) =>
      `Reconcile found ${plural(jobs, 'job')} without results for which the ledger has no failure.`,
    remedy: 'Run transcript-receiver reconcile: it tries again, and names each with the reason.',
  },
  'expected-unknown': {
    topic: 'expected',
    ...unknown,
    label: 'Unknown',
    text: ({ since }, time) =>
      since === null
        ? 'Whether every job was received is unknown: no reconcile has been complete yet.'
        : `Whether every job since ${time(since)} was received is unknown: no later reconcile was complete.`,
    remedy: 'Resolve the other issues of reconcile, then run transcript-receiver reconcile.',
  },
  'reconcile-not-configured': {
    topic: 'reconcile',
    ...quiet,
    label: 'Not configured',
    text: () => 'Lost callbacks are not noticed: access to the speech service is not configured.',
    remedy: 'Set speech.apiKey and speech.regions.<region>.batchUrl.',
  },
  'reconcile-not-scheduled': {
    topic: 'reconcile',
    ...quiet,
    label: 'Never run',
    text: () => 'Lost callbacks are not noticed: reconcile has never run, and does not run here.',
    remedy: 'Set recovery.interval, or run transcript-receiver reconcile on a schedule.',
  },
  'reconcile-not-run': {
    topic: 'reconcile',
    ...quiet,
    label: 'Not run yet',
    text: () => 'Reconcile has not run yet; lost callbacks are not noticed until it has.',
    remedy: null,
  },
  'reconcile-overdue': {
    topic: 'reconcile',
    ...warning,
    label: 'Overdue',
    text: ({ since }, time) =>
      `Reconcile last finished at ${time(since)}; callbacks lost since are not noticed.`,
    remedy:
      'Run transcript-receiver reconcile: it reports what prevents it. Then set recovery.interval, or see why the CronJob does not run.',
  },
  'reconcile-incomplete': {
    topic: 'reconcile',
    ...warning,
    label: 'Incomplete',
    text: (params) => `The last reconcile was incomplete: ${faultsInWords(params)}.`,
    remedy:
      'Correct this: transcript-receiver doctor tries address and key of each region. Then run transcript-receiver reconcile.',
  },
  'artefacts-missing': {
    topic: 'verify',
    ...failing,
    label: 'Not intact',
    text: ({ missing, damaged, finishedAt }, time) =>
      `Verify found ${lossesInWords(missing, damaged)}; it last ran at ${time(finishedAt)}.`,
    remedy:
      'Refetch the jobs while the service keeps them, restore the objects from a backup, or acknowledge the loss: transcript-receiver verify names them, and prints the command. Then run it again, with --deep if a deep run found the damage.',
  },
  'verify-incomplete': {
    topic: 'verify',
    ...quiet,
    label: 'Incomplete',
    text: (params) => `The last verify was incomplete: ${faultsInWords(params)}.`,
    remedy: 'Correct this, then run transcript-receiver verify.',
  },
  'credentials-expired': {
    topic: 'credentials',
    ...failing,
    label: 'Expired',
    text: ({ source, since, next }, time) =>
      `No credential of ${source} is valid${since === null ? '' : `; the last one expired at ${time(since)}`}${next === null ? '' : `; the next one is valid from ${time(next)}`}: its callbacks are rejected with 401.`,
    remedy:
      'Make one valid (expires, notBefore), or add another and submit jobs with it, and restart. Then run transcript-receiver reconcile.',
  },
  'credential-expired': {
    topic: 'credentials',
    ...warning,
    label: 'Expired',
    text: ({ source, credential, expires }, time) =>
      `The credential ${source}/${credential} expired at ${time(expires)}.`,
    remedy: 'Remove it, and restart.',
  },
  'credential-expiring': {
    topic: 'credentials',
    ...warning,
    label: 'Expires soon',
    text: ({ source, credential, expires, lastUsedAt }, time) =>
      `The credential ${source}/${credential} expires at ${time(expires)}${lastUsedAt === null ? '' : `; it was last used at ${time(lastUsedAt)}`}.`,
    remedy: ({ source, successor }) =>
      successor === null
        ? `Add its successor to sources.${source}.credentials, restart, and submit jobs with it.`
        : `Submit jobs with ${successor}: transcript-receiver notification-config ${source} --credential ${successor}. Extend expires while jobs submitted with the old one run.`,
  },
  'quarantine-growing': {
    topic: 'quarantine',
    ...warning,
    label: 'Waiting',
    text: ({ bodies }) =>
      `${count(bodies)} undecodable ${bodies === 1 ? 'body waits' : 'bodies wait'} in quarantine.`,
    remedy: 'Release, refetch or dismiss each, as its page and transcript-receiver quarantine say.',
  },
  'subscriber-state-damaged': {
    topic: 'subscribers',
    ...warning,
    label: 'State damaged',
    text: ({ subscriber }) =>
      `Nothing is sent to ${subscriber}: outbox/${subscriber}/state.json is gone, damaged, or of a newer version.`,
    remedy: 'Restore it from a backup. Without one see docs/operations.md, "Subscribers".',
  },
  'subscriber-paused': {
    topic: 'subscribers',
    ...warning,
    label: 'Paused',
    text: ({ subscriber, since, status, error }, time) =>
      `Sending to ${subscriber} has been paused since ${time(since)}, because its address fails${attemptInWords(status, error)}.`,
    remedy: addressRemedy,
  },
  'subscriber-lagging': {
    topic: 'subscribers',
    ...warning,
    label: 'Lagging',
    text: ({ subscriber, since, status, error }, time) =>
      `Events for ${subscriber} have waited since ${time(since)}${attemptInWords(status, error)}.`,
    remedy: (params) =>
      params.status === null && params.error === null
        ? `No attempt failed since then. Correct what events-delayed names in the logs; without that raise subscribers.${params.subscriber}.maxInFlight.`
        : addressRemedy(params),
  },
  'events-dead': {
    topic: 'subscribers',
    ...warning,
    label: 'Events not sent',
    text: ({ subscriber, events }) =>
      `${describeDead(events)} for ${subscriber} could not be sent; a replay can send ${events === 1 ? 'it' : 'them'}.`,
    remedy: ({ subscriber }) =>
      `Once it answers, run transcript-receiver replay notify --subscriber ${subscriber} --dead.`,
  },
};

export const ISSUE_CODES = Object.keys(ISSUES) as readonly IssueCode[];

/** @param level where it depends on the facts */
export function issueOf<Code extends IssueCode>(
  code: Code,
  params: IssueParams[Code],
  level: IssueLevel = ISSUES[code].level,
): Issue & { readonly code: Code } {
  const { topic } = ISSUES[code];
  return { topic, level, code, params };
}

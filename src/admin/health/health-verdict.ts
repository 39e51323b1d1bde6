import type { LedgerViewStatus } from '../../ledger-view/ledger-view.js';
import type { CanaryStatus } from '../../observe/canary.js';
import type { StoreCondition } from '../../store/store-remedies.js';
import { remedyOf } from '../../store/store-remedies.js';
import type {
  CredentialNotice,
  ReconcileFigures,
  Trouble,
  Unknowable,
  Verdict,
  VerifyFigures,
} from '../api/answers/health.js';
import type { UnknownFacts } from './known-facts.js';
import { reconcileTroubles, type ServiceFacts } from './reconcile-troubles.js';
import { type SubscriberFacts, subscriberTroubles } from './subscriber-troubles.js';
import { failure, number, plural, warning } from './trouble.js';

/** Facts behind the verdict; unknown ones are null. */
export interface VerdictFacts {
  /** The receiver that answers; null for the `status` command, which reads the store alone. */
  readonly receiver: {
    readonly ready: boolean;
    readonly reason: string | null;
    readonly draining: boolean;
    readonly waiters: number;
  } | null;
  /** When a receiver last wrote its canary (ISO 8601); undefined when the store was not searched for canaries. */
  readonly lastProven?: { readonly at: string | null; readonly recent: boolean } | undefined;
  readonly store: Pick<CanaryStatus, 'writable' | 'reason' | 'condition'>;
  readonly ledger: LedgerViewStatus;
  /** From when on every delivery was looked at for failures (ISO 8601), and what of the service's retention was not. */
  readonly looked: { readonly since: string; readonly unseen: readonly string[] };
  readonly deliveries24h: number | null;
  /** Jobs whose last ledger line is a failure, by outcome. */
  readonly failing: Readonly<Record<string, number>> | null;
  /** When the service begins to delete the results of failing jobs (ISO 8601); null while that is far away. */
  readonly retentionEnds: string | null;
  /** Bodies waiting in quarantine. */
  readonly waiting: number | null;
  readonly reconcile: ReconcileFigures | null;
  readonly verify: VerifyFigures | null;
  readonly service: ServiceFacts;
  readonly credentials: readonly CredentialNotice[];
  /** Whether only some sources are looked at: what covers all of them is left out, and the verdict says so. */
  readonly scoped?: boolean;
  readonly subscribers: readonly SubscriberFacts[] | null;
  /** Which of the facts that are null could not be read; the others are none. */
  readonly unknown: UnknownFacts;
}

/** Is all well? `since` and `unseen` bound what the verdict claims. */
export function verdictOf(facts: VerdictFacts, now: number): Verdict {
  const troubles = [...failingOf(facts), ...warningsOf(facts, now)];
  const unseen = unseenOf(facts);
  const since = Date.parse(facts.looked.since) < now ? facts.looked.since : null;
  const [first] = troubles;
  if (first !== undefined) {
    const headline = first.level === 'failing' ? 'Act now' : 'Look at this';
    return { level: first.level, headline, sentence: first.text, troubles, since, unseen };
  }
  const headline = unseen.length > 0 ? 'No trouble seen' : 'All is well';
  return { level: 'ok', headline, sentence: goodSentence(facts, unseen), troubles, since, unseen };
}

function goodSentence({ deliveries24h, receiver }: VerdictFacts, unseen: readonly string[]): string {
  if (deliveries24h === null) return `Not looked at: ${unseen.join('; ')}.`;
  const found = unseen.length === 0 ? 'no job is failing' : 'no failing job was found in what was looked at';
  const arrived =
    deliveries24h === 0
      ? `${receiver === null ? 'Nothing' : 'Ready to receive. Nothing'} arrived in the last 24 hours.`
      : `${plural(deliveries24h, 'delivery', 'deliveries')} in the last 24 hours, ${found}.`;
  return unseen.length === 0 ? arrived : `${arrived} Not looked at: ${unseen.join('; ')}.`;
}

function failingOf(facts: VerdictFacts): Trouble[] {
  const { receiver, store, ledger, verify, credentials } = facts;
  const failing = facts.failing ?? {};
  const jobs = Object.values(failing).reduce((sum, number) => sum + number, 0);
  const troubles: (Trouble | null)[] = [
    store.writable
      ? null
      : failure(
          'store',
          `The store cannot be written: ${store.reason ?? 'no reason known'}. Callbacks are answered 503.${remedyIn(store.condition)}`,
          'store-not-writable',
        ),
    receiver === null || receiver.ready || !store.writable || receiver.draining
      ? null
      : failure('receiving', `Not ready to receive: ${receiver.reason ?? 'no reason known'}.`),
    ledger.error === null
      ? null
      : failure(
          'ledger',
          `The ledger cannot be read: ${ledger.error}. What is shown here may be old.${remedyIn(ledger.condition)}`,
        ),
    jobs === 0
      ? null
      : failure(
          'failures',
          `${jobs === 1 ? '1 job is' : `${number(jobs)} jobs are`} failing: ${failuresInWords(failing)}.`,
          'jobs-failing',
        ),
    facts.retentionEnds === null
      ? null
      : failure(
          'failures',
          `The service deletes results of failing jobs from ${facts.retentionEnds} on: fetch them before.`,
          'retention-ending',
        ),
    verify === null || verify.missing + verify.damaged === 0
      ? null
      : failure('verify', verifyInWords(verify), 'artefacts-missing'),
    ...closedSources(credentials).map((source) =>
      failure(
        'credentials',
        `Every credential of ${source} has expired: its callbacks are rejected with 401.`,
        `credentials-expired:${source}`,
      ),
    ),
  ];
  return troubles.filter((trouble) => trouble !== null);
}

/** Sources all of whose credentials have expired. */
function closedSources(credentials: readonly CredentialNotice[]): string[] {
  const sources = [...new Set(credentials.map(({ source }) => source))];
  return sources.filter((name) =>
    credentials.every(({ source, state }) => source !== name || state === 'expired'),
  );
}

function warningsOf(facts: VerdictFacts, now: number): Trouble[] {
  const { receiver, ledger, failing, waiting, credentials, reconcile } = facts;
  const closed = closedSources(credentials);
  const troubles: (Trouble | null)[] = [
    facts.lastProven === undefined || facts.lastProven.recent
      ? null
      : warning(
          'receiving',
          facts.lastProven.at === null
            ? 'No receiver is writing to this store; is one running?'
            : `No receiver has written to this store since ${facts.lastProven.at}; is one running?`,
        ),
    receiver?.draining
      ? warning('receiving', 'This replica is shutting down; another one takes over.')
      : null,
    ...(facts.scoped === true || facts.unknown.reconcile !== undefined
      ? []
      : reconcileTroubles(reconcile, facts.service, now)),
    verifyWarning(facts),
    reconcile !== null && reconcile.missing > 0 && Object.keys(failing ?? {}).length === 0
      ? warning(
          'expected',
          `Reconcile misses the results of ${plural(reconcile.missing, 'job')}.`,
          'results-missing',
        )
      : null,
    waiting !== null && waiting > 0
      ? warning(
          'quarantine',
          `${number(waiting)} undecodable ${waiting === 1 ? 'body waits' : 'bodies wait'} in quarantine.`,
          'quarantine-growing',
        )
      : null,
    ...credentials
      .filter(({ source, state }) => !(state === 'expired' && closed.includes(source)))
      .map(({ advice, source, credential }) =>
        advice === null
          ? null
          : warning('credentials', advice, `credential-expiring:${source}/${credential}`),
      ),
    ...subscriberTroubles(facts.subscribers ?? []),
    receiver !== null && receiver.waiters > 0
      ? warning('receiving', `${plural(receiver.waiters, 'delivery waits', 'deliveries wait')} for memory.`)
      : null,
    facts.scoped !== true && ledger.broken.count > 0
      ? warning('ledger', `${plural(ledger.broken.count, 'line')} of the ledger cannot be read.`)
      : null,
    facts.scoped !== true && ledger.newer.count > 0
      ? warning(
          'ledger',
          `${plural(ledger.newer.count, 'line')} of the ledger ${ledger.newer.count === 1 ? 'was' : 'were'} written by a newer version and cannot be read: upgrade this replica.`,
        )
      : null,
    ledger.state === 'loading' && ledger.error === null
      ? warning('ledger', 'The ledger is still being read; figures are not complete yet.')
      : null,
  ];
  return troubles.filter((trouble) => trouble !== null);
}

function verifyInWords({ missing, damaged }: VerifyFigures): string {
  const found = [
    ...(missing > 0 ? [`${plural(missing, 'artefact')} missing from the store`] : []),
    ...(damaged > 0 ? [`${plural(damaged, 'artefact')} damaged`] : []),
  ];
  return `Verify found ${found.join(' and ')}.`;
}

function verifyWarning({ verify }: VerdictFacts): Trouble | null {
  const [fault, ...others] = verify?.faults ?? [];
  if (fault === undefined) return null;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return warning('verify', `The last verify did not look everywhere: ${fault}${more}.`);
}

/** What the verdict does not cover although nothing failed; failures that hide something are troubles themselves. */
function unseenOf({ looked, scoped, unknown }: VerdictFacts): string[] {
  return [
    ...looked.unseen,
    ...UNREAD.flatMap(([name, text]) => (unknown[name] === undefined ? [] : [text])),
    ...(scoped === true ? ['reconcile, verify and the quarantine, whose figures cover all sources'] : []),
  ];
}

const UNREAD: readonly (readonly [Unknowable, string])[] = [
  ['failing', 'the failing jobs, since the ledger was not read'],
  ['quarantine', 'the quarantine, which could not be listed'],
  ['reconcile', 'the reports of reconcile, which could not be read'],
  ['verify', 'the reports of verify, which could not be read'],
  ['subscribers', 'the subscribers, whose state could not be read'],
];

const FAILURES: Readonly<Record<string, string>> = {
  failed: 'not fetched',
  unrecoverable: 'lost at the service',
  conflict: 'in conflict',
};

/** "3 not fetched, 1 refused" */
function failuresInWords(failing: Readonly<Record<string, number>>): string {
  return Object.entries(failing)
    .map(
      ([outcome, count]) =>
        `${number(count)} ${Object.hasOwn(FAILURES, outcome) ? FAILURES[outcome] : outcome}`,
    )
    .join(', ');
}

const remedyIn = (condition: StoreCondition | null) => (condition === null ? '' : ` ${remedyOf(condition)}`);

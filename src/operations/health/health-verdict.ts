import { type IndexExtent, isLacking } from '../../index/index-extent.js';
import type { LedgerViewStatus } from '../../index/ledger-view.js';
import type { CredentialState, ReconcileFigures, VerifyFigures } from '../answers/health.js';
import { issueOf } from '../issues/issue-kinds.js';
import { type Issue, LEVELS, type Level } from '../issues/issues.js';
import type { Unseen, Verdict } from '../issues/verdict-words.js';
import type { CanaryStatus } from './canary.js';
import { type CallbackFacts, callbackIssues } from './checks/callback-issues.js';
import { credentialIssues } from './checks/credential-issues.js';
import { reconcileIssues, type ServiceFacts } from './checks/reconcile-issues.js';
import type { UnknownFacts } from './known-facts.js';
import { onePerName } from './replica-issues.js';

/** The receiver that answers. */
export interface ReceiverFacts {
  readonly ready: boolean;
  readonly reason: string | null;
  readonly draining: boolean;
  readonly waiters: number;
}

/** Facts behind the verdict; unknown ones are null. */
export interface VerdictFacts {
  /** Null for the `status` command, which reads the store alone. */
  readonly receiver: ReceiverFacts | null;
  /** Issues that the answering receiver reports of itself, and those of other replicas; null when they cannot be read. */
  readonly ownIssues: readonly Issue[];
  readonly replicaIssues: readonly Issue[] | null;
  /** When a receiver last wrote its canary (ISO 8601); undefined when canaries were not read. */
  readonly lastProven?: { readonly at: string | null; readonly recent: boolean } | undefined;
  readonly callbacks: CallbackFacts | null;
  readonly store: Pick<CanaryStatus, 'writable' | 'reason' | 'condition' | 'lastSuccessAt'>;
  readonly ledger: LedgerViewStatus;
  readonly index: IndexExtent;
  /** Whether the index covers the whole retention of the service. */
  readonly isIndexed: boolean;
  /** Jobs whose last ledger line is a failure, by outcome. */
  readonly failing: Readonly<Record<string, number>> | null;
  /** When the callback of the longest failing job was received or expected (ISO 8601). */
  readonly failingSince: string | null;
  /** When the service starts deleting the results of failing jobs (ISO 8601); null while that is far away. */
  readonly retentionEnds: string | null;
  /** Bodies waiting in quarantine. */
  readonly waiting: number | null;
  readonly reconcile: ReconcileFigures | null;
  readonly verify: VerifyFigures | null;
  readonly service: ServiceFacts;
  readonly credentials: readonly CredentialState[];
  /** The ledger has credentials of sources that have none in this configuration. */
  readonly otherCredentials: boolean;
  /** Whether the verdict covers only some sources; facts about all sources are then in `unseen`. */
  readonly scoped: boolean;
  readonly subscribers: readonly { readonly issues: readonly Issue[] }[] | null;
  /** Facts that are null because they could not be read; null elsewhere means that there is none. */
  readonly unknown: UnknownFacts;
}

/** The verdict; `index` and `unseen` limit what it claims. */
export function verdictOf(facts: VerdictFacts, now: number): Verdict {
  const issues = issuesIn(facts, now);
  // Stable: among equals callbacks come first.
  const sorted = issues.toSorted((one, other) => rankOf(other.level) - rankOf(one.level));
  return {
    level: sorted[0]?.level ?? (unknownIn(facts) ? 'unknown' : 'ok'),
    index: facts.index,
    unseen: unseenIn(facts),
    issues: sorted,
  };
}

const rankOf = (level: Level) => LEVELS.indexOf(level);

function issuesIn(facts: VerdictFacts, now: number): Issue[] {
  return [
    ...(facts.callbacks === null ? [] : callbackIssues(facts.callbacks, now)),
    ...storeIssues(facts),
    ...onePerName([...facts.ownIssues, ...(facts.replicaIssues ?? [])]),
    ...receivingIssues(facts),
    ...ledgerIssues(facts),
    ...failureIssues(facts),
    ...verifyIssues(facts),
    ...credentialIssues(facts.credentials, facts.unknown.credentials === undefined),
    ...(facts.scoped || facts.unknown.reconcile !== undefined
      ? []
      : reconcileIssues(facts.reconcile, facts.service, now)),
    ...(facts.waiting ? [issueOf('quarantine-growing', { bodies: facts.waiting })] : []),
    ...(facts.subscribers ?? []).flatMap(({ issues }) => issues),
  ];
}

function storeIssues({ store }: VerdictFacts): Issue[] {
  if (store.writable) return [];
  const { reason, condition, lastSuccessAt } = store;
  const since = lastSuccessAt === null ? null : new Date(lastSuccessAt).toISOString();
  return [issueOf('store-not-writable', { reason, condition, since })];
}

function receivingIssues({ receiver, lastProven, store, ownIssues }: VerdictFacts): Issue[] {
  const issues: Issue[] = [];
  if (lastProven !== undefined && !lastProven.recent) {
    issues.push(issueOf('no-receiver', { since: lastProven.at }));
  }
  if (receiver === null) return issues;
  if (receiver.draining) issues.push(issueOf('draining', {}));
  else if (!receiver.ready && store.writable && !ownIssues.some(({ level }) => level === 'failing'))
    issues.push(issueOf('not-ready', { reason: receiver.reason }));
  if (receiver.waiters > 0) issues.push(issueOf('memory-short', { deliveries: receiver.waiters }));
  return issues;
}

function failureIssues(facts: VerdictFacts): Issue[] {
  const { failing, failingSince, retentionEnds, reconcile, isIndexed } = facts;
  const outcomes = failing ?? {};
  const jobs = Object.values(outcomes).reduce((sum, number) => sum + number, 0);
  const issues: Issue[] = [];
  if (jobs > 0) {
    issues.push(issueOf('jobs-failing', { jobs, outcomes, since: failingSince }));
  }
  if (retentionEnds !== null) issues.push(issueOf('retention-ending', { ends: retentionEnds }));
  // While the index is built, it may lack what settled them, or their failures.
  if (isIndexed && reconcile !== null && reconcile.withoutFailure > 0) {
    issues.push(issueOf('results-missing', { jobs: reconcile.withoutFailure }));
  }
  return issues;
}

function verifyIssues({ verify }: VerdictFacts): Issue[] {
  if (verify === null) return [];
  const { missing, damaged, finishedAt, faults } = verify;
  const [first] = faults;
  const issues: Issue[] = [];
  if (missing + damaged > 0) issues.push(issueOf('artefacts-missing', { missing, damaged, finishedAt }));
  if (first !== undefined) issues.push(issueOf('verify-incomplete', { faults: faults.length, first }));
  return issues;
}

function ledgerIssues({ ledger, index, store, scoped }: VerdictFacts): Issue[] {
  const { error, fault, condition, refreshedAt, state } = ledger;
  const issues: Issue[] = [];
  if (error !== null && fault === 'index') {
    issues.push(issueOf('index-behind', { reason: error, since: refreshedAt }));
  } else if (error !== null) {
    // The issue of the store already has this reason.
    const reason = !store.writable && store.reason === error ? null : error;
    issues.push(issueOf('ledger-unreadable', { reason, condition, since: refreshedAt }));
  }
  const lines = index.missing.reduce((sum, { unreadable }) => sum + (unreadable ?? 0), 0);
  const objects = index.missing.filter((each) => isLacking(each) && each.unreadable === null);
  if (!scoped && lines + objects.length > 0) {
    const first = objects[0]?.key ?? null;
    issues.push(issueOf('ledger-lines-unreadable', { lines, objects: objects.length, first }));
  }
  if (state === 'loading' && error === null) issues.push(issueOf('ledger-loading', {}));
  return issues;
}

/** Figures that cover all sources. */
const OF_ALL_SOURCES: readonly Unseen[] = ['quarantine', 'reconcile', 'verify'];
const UNREAD = ['callbacks', 'failing', 'quarantine', 'reconcile', 'verify', 'subscribers'] as const;

/** Facts that the verdict does not cover. Failures that hide facts are issues themselves. */
function unseenIn(facts: VerdictFacts): Unseen[] {
  const { receiver, isIndexed, otherCredentials, scoped, unknown } = facts;
  return [
    ...(isIndexed ? [] : (['deliveries'] as const)),
    ...UNREAD.filter((name) => unknown[name] !== undefined),
    ...(facts.replicaIssues === null ? (['replicas'] as const) : []),
    ...(receiver === null && otherCredentials ? (['credentials'] as const) : []),
    ...(scoped ? OF_ALL_SOURCES : []),
  ];
}

/** Whether facts are unknown; those outside of a token's scope or the configuration do not count. */
function unknownIn({ isIndexed, replicaIssues, unknown }: VerdictFacts): boolean {
  return !isIndexed || replicaIssues === null || UNREAD.some((name) => unknown[name] !== undefined);
}

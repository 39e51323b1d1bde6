import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { SenderRefusals } from '../../domain/summary-figures.js';
import { hasAllSince } from '../../index/index-extent.js';
import type { LedgerView } from '../../index/ledger-view.js';
import type { LedgerSummary, SummaryQuery } from '../../index/questions/find-summary.js';
import { retentionWarning } from '../../recovery/reconcile/fetch/retention-deadline.js';
import type { RetentionView } from '../../recovery/retention/retention-view.js';
import type { ReconcileFigures, VerifyFigures } from '../answers/health.js';
import type { Issue } from '../issues/issues.js';
import type { CallbackFacts } from './checks/callback-issues.js';
import type { ServiceFacts } from './checks/reconcile-issues.js';
import { type CredentialSettings, credentialStates } from './credential-states.js';
import type { ReceiverFacts, VerdictFacts } from './health-verdict.js';
import { createKnownFacts, within } from './known-facts.js';
import { issuesInScope } from './replica-issues.js';

/** Sources of the facts behind the verdict. */
export interface FactSources<Subscriber extends { readonly issues: readonly Issue[] }>
  extends CallbackSources {
  readonly view: Pick<LedgerView, 'status' | 'extent' | 'failingNow' | 'callbacks' | 'bodyFigures'>;
  readonly summarise: (query: SummaryQuery) => Promise<LedgerSummary>;
  readonly retained: RetentionView;
  /** The signals abort reads. */
  readonly lastReconcile: (signal?: AbortSignal) => Promise<ReconcileFigures | null>;
  readonly lastVerify: (signal?: AbortSignal) => Promise<VerifyFigures | null>;
  readonly subscribers: (scope: SourceScope, signal?: AbortSignal) => Promise<readonly Subscriber[]>;
  /** Issues that replicas report of themselves; may include those of this process. */
  readonly replicaIssues: () => Promise<readonly Issue[]>;
  readonly sources: readonly CredentialSettings[];
  readonly service: ServiceFacts;
  /** Milliseconds for which the service keeps results. */
  readonly retention: number;
}

/** Facts about the process itself. */
export interface ProcessFacts {
  readonly receiver: ReceiverFacts | null;
  readonly store: VerdictFacts['store'];
  readonly ownIssues: readonly Issue[];
  readonly lastProven?: VerdictFacts['lastProven'];
}

/**
 * Reads the facts behind the verdict, even while the store fails or hangs: facts that cannot be read are null and in `unknown`.
 *
 * @param scope facts about all sources are left out for a client that may see only some
 * @param patience time-out of each fact in milliseconds. Default: none
 */
export async function readFacts<Subscriber extends { readonly issues: readonly Issue[] }>(
  from: FactSources<Subscriber>,
  process: ProcessFacts,
  now: number,
  scope: SourceScope,
  patience?: number,
) {
  const { view, retention, service } = from;
  const ledger = view.status();
  const known = createKnownFacts(ledger, patience);
  const ofAll = scope === null;
  const [callbacks, summary, failures, found, reconcile, verify, subscribers, replicas] = await Promise.all([
    known.read('callbacks', () => readCallbacks(from, scope)),
    known.read('last24h', (): Promise<LedgerSummary> => from.summarise({ scope, buckets: 1 }), ...LAST_TIMES),
    known.read('failing', () => view.failingNow({ scope, givenUpBy: now })),
    ofAll ? known.read('quarantine', () => readBodies(from)) : null,
    ofAll ? known.read('reconcile', from.lastReconcile) : null,
    ofAll ? known.read('verify', from.lastVerify) : null,
    known.read('subscribers', (signal) => from.subscribers(scope, signal)),
    within(patience, from.replicaIssues).catch(() => null),
  ]);
  const { unknown } = known;
  // The newest hours are read first, so callbacks are known before the rest.
  if (ledger.error !== null || callbacks === null || callbacks.hourSince > now - HOUR)
    known.noteUnread('callbacks');
  known.noteUnread('last24h', ...LAST_TIMES);
  // Known failures are still shown while the ledger cannot be read.
  if (Object.keys(failures?.counts ?? {}).length === 0) known.noteUnread('failing');
  if (ofAll && !found?.waiting) known.noteUnread('quarantine');
  const quarantine = unknown.quarantine === undefined ? found : null;
  const lastUses = summary?.last.byCredential ?? {};
  const index = failures?.index ?? view.extent();
  const isIndexed = hasAllSince(index, now - retention) && ledger.error === null;
  const facts = {
    ...process,
    callbacks,
    ownIssues: issuesInScope(process.ownIssues, scope),
    replicaIssues: replicas && issuesInScope(replicas, scope),
    ledger,
    index,
    isIndexed,
    failing: unknown.failing === undefined ? (failures?.counts ?? null) : null,
    failingSince: failures?.since ?? null,
    retentionEnds: ifBefore(failures?.nextEnd, now + retentionWarning(retention)),
    waiting: quarantine?.waiting ?? null,
    reconcile,
    verify,
    service,
    credentials: credentialStates(
      from.sources,
      lastUses,
      isIndexed && unknown.credentials === undefined,
      now,
    ),
    otherCredentials: from.sources.some(
      ({ source, credentials }) =>
        credentials.length === 0 && Object.keys(lastUses).some((name) => name.startsWith(`${source}/`)),
    ),
    scoped: !ofAll,
    subscribers,
    unknown,
  } satisfies VerdictFacts;
  return { facts, summary, last24h: unknown.last24h === undefined ? summary : null, quarantine };
}

/** Facts that are read together with the figures of the last day: times of the last callbacks. */
const LAST_TIMES = ['regions', 'credentials'] as const;

/** Figures of quarantined bodies that have not expired; of all bodies while expiry times cannot be read. */
async function readBodies({
  view,
  retained,
}: {
  readonly view: Pick<LedgerView, 'bodyFigures'>;
  readonly retained: RetentionView;
}) {
  const expiredBefore = await retained.expiredBefore().catch(() => () => Number.NEGATIVE_INFINITY);
  return view.bodyFigures(expiredBefore('quarantine'));
}

const HOUR = 3_600_000;

/** Sources of the facts about callbacks. */
export interface CallbackSources {
  readonly view: Pick<LedgerView, 'callbacks'>;
  /** Refusals of the last day, by all replicas, of requests that are most likely the speech service's. */
  readonly senderRefusals: () => Promise<readonly SenderRefusals[]>;
}

export async function readCallbacks(
  { view, senderRefusals }: CallbackSources,
  scope: SourceScope,
): Promise<CallbackFacts> {
  const [figures, unauthenticated] = await Promise.all([view.callbacks(scope), senderRefusals()]);
  return { ...figures, unauthenticated: unauthenticated.filter(({ source }) => isInScope(scope, source)) };
}

/** An instant (ISO 8601), when it is before `end`, in milliseconds since the epoch; else null. */
function ifBefore(instant: string | null | undefined, end: number): string | null {
  return instant && Date.parse(instant) < end ? instant : null;
}

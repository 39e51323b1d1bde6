import { createQuarantineStore } from '../../archive/quarantine/quarantine-store.js';
import { createRefusalCountsReader } from '../../archive/read-refusal-counts.js';
import { followsAnyInScope, type SourceScope } from '../../domain/rights.js';
import type { LedgerView } from '../../index/ledger-view.js';
import { filterNames } from '../../index/questions/filter-names.js';
import { findSummary } from '../../index/questions/find-summary.js';
import { createFreshView } from '../../index/questions/fresh-view.js';
import type { Metrics } from '../../observe/metrics/metrics.js';
import type { RefusalRing } from '../../observe/refusal-ring.js';
import type { Source } from '../../receive/access/sources.js';
import type { RecoveryParts } from '../../recovery/reconcile/recovery-parts.js';
import { createTrialDecoder } from '../actions/decode-quarantined.js';
import type { ReconcileRuns } from '../actions/reconcile-runs.js';
import type { ReleaseParts } from '../actions/release-body.js';
import type { NotifyParts } from '../actions/replay/notify-item.js';
import type { ReplayItemParts } from '../actions/replay/replay-item.js';
import { createReplayStore } from '../actions/replay/replay-store.js';
import { createReplays } from '../actions/replay/replays.js';
import type { SubscriberFigures } from '../answers/subscribers.js';
import type { ServiceFacts } from '../health/checks/reconcile-issues.js';
import type { CredentialSettings } from '../health/credential-states.js';
import type { FactSources } from '../health/read-facts.js';
import { createReconcileReportReader } from '../health/reconcile-report-reader.js';
import { createVerifyReportReader } from '../health/verify-report-reader.js';
import type { AdminToken } from './access/access.js';
import { createAccessLedger } from './access/access-ledger.js';
import { createSignIn, type FailedSignIn } from './access/sign-in.js';
import { createDownloadGate, type DownloadLimits } from './api/content/download-gate.js';
import type { ImportFormOptions } from './api/content/import-form.js';
import { recordsOf } from './jobs/find-service-record.js';
import type { ReplicaFacts } from './read-health.js';
import { createDeadEventCounter } from './subscribers/count-dead-events.js';
import { createJobEvents } from './subscribers/job-events.js';
import { listSubscribers } from './subscribers/list-subscribers.js';

/** Configuration of the port and of the data that it shows. */
export interface AdminSettings {
  /** Bearer tokens by name. */
  readonly tokens: Readonly<Record<string, AdminToken>>;
  /** Host names of the port, in addition to addresses and internal names. */
  readonly hosts: readonly string[];
  /** Folder of the dashboard's files. */
  readonly page: string;
  /** Names of all regions with addresses in the configuration. */
  readonly regions: readonly string[];
  /** The prefixes of all sources. */
  readonly keyPrefixes: readonly string[];
  readonly credentials: readonly CredentialSettings[];
  readonly service: ServiceFacts;
}

/** Parts of the receiver that operators' work shares and yields to. */
interface Receiving {
  readonly sources: ReadonlyMap<string, Source>;
  readonly refusals: Pick<RefusalRing, 'list'>;
  readonly limits: DownloadLimits &
    ImportFormOptions['limits'] &
    Readonly<Record<'freshWithin' | 'factsWithin' | 'recordWithin', number>>;
  /** Whether live traffic needs the resources that a replay would use. */
  readonly isBusy: () => boolean;
  /** Whether callbacks arrive: operators' reads are limited then. */
  readonly isReceiving: () => boolean;
}

export interface AdminOptions {
  readonly settings: AdminSettings;
  readonly self: ReplicaFacts;
  readonly replicas: {
    readonly issues: FactSources<SubscriberFigures>['replicaIssues'];
    /** Whether this replica does the work that only one of all does. Rejects with `StoreError`. */
    readonly isFirst: () => Promise<boolean>;
  };
  readonly receiving: Receiving;
  readonly view: LedgerView;
  readonly recovery: RecoveryParts;
  readonly reconciling: ReconcileRuns;
  /** The configured subscribers, and the outbox that sends to them. */
  readonly events: Pick<NotifyParts, 'outbox' | 'subscribers'>;
  readonly metrics: Metrics;
  readonly report: {
    readonly signInFailed: (failure: FailedSignIn) => void;
    /** Called for every item of a replay that failed. */
    readonly replayFailed: NonNullable<ReplayItemParts['onReplayFailure']>;
    /** Called with errors that are bugs. */
    readonly unexpected: (error: unknown) => void;
  };
}

/** Dependencies of the admin API, each created once. A route destructures what it needs. */
export type AdminServices = ReturnType<typeof createAdminServices>;

export function createAdminServices(options: AdminOptions) {
  const { settings, self, receiving, view, recovery, metrics, report } = options;
  const { service, keyPrefixes } = settings;
  const { sources, limits } = receiving;
  const { store, archive, ledger, retained, retention } = recovery;
  const { outbox, subscribers } = options.events;
  const quarantine = createQuarantineStore(store);
  const onReleased = () => metrics.ledger.quarantine('released');
  const release: ReleaseParts = { quarantine, view, sources, archive, ledger, onReleased };
  const replays = createReplays({
    recovery,
    release,
    ledger,
    view,
    notify: { outbox, subscribers, view, store },
    replays: createReplayStore(store),
    owner: self.replica,
    busy: receiving.isBusy,
    onReplayFailure: report.replayFailed,
    onError: report.unexpected,
  });
  const lastVerify = createVerifyReportReader(store);
  const accessLedger = createAccessLedger(ledger);
  const signIn = createSignIn({
    tokens: settings.tokens,
    onFailure(failure) {
      report.signInFailed(failure);
      accessLedger.signInFailed(failure);
    },
  });
  const refusalCounts = createRefusalCountsReader(store, Date.now);
  const fresh = createFreshView(view, limits.freshWithin);
  const countDead = createDeadEventCounter(store, view.sent);
  const facts: FactSources<SubscriberFigures> = {
    view,
    service,
    retained,
    retention,
    lastVerify,
    sources: settings.credentials,
    replicaIssues: options.replicas.issues,
    summarise: (query) => findSummary(view.calls, query),
    senderRefusals: refusalCounts.lastDay,
    lastReconcile: createReconcileReportReader(store, view.missedJobs),
    subscribers: (scope, signal) => listSubscribers({ outbox, view, countDead }, scope, signal),
  };
  const names = filterNames(
    sources.keys(),
    settings.regions,
    new Map([...sources].map(([name, { context }]) => [name, context])),
  );
  const subscriberNames = (scope: SourceScope) =>
    [...subscribers].flatMap(([name, { sources }]) => (followsAnyInScope(scope, sources) ? [name] : []));
  return {
    self,
    facts,
    store,
    archive,
    ledger,
    view,
    /** Brings the index up to date with the ledger. */
    fresh,
    recovery,
    retained,
    /** Milliseconds for which the service keeps results. */
    retention,
    service,
    sources,
    keyPrefixes,
    /** The names that filters can have. */
    names,
    quarantine,
    release,
    replays,
    reconciling: options.reconciling,
    records: recordsOf(recovery, limits.recordWithin),
    signIn,
    accessLedger,
    refusals: receiving.refusals,
    refusalCounts,
    outbox,
    jobEvents: createJobEvents(store, view, outbox),
    subscribers: (scope: SourceScope, signal?: AbortSignal) =>
      listSubscribers({ outbox, view, countDead, fresh }, scope, signal),
    subscriberNames,
    downloads: createDownloadGate(limits),
    /** Decodes a body with the current decoder, without storing it. */
    trial: createTrialDecoder(sources),
    limits,
    /** Milliseconds since the epoch. */
    clock: Date.now,
    lastVerify,
  };
}

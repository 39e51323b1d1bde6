import type { Express } from 'express';
import { createQuarantineStore } from '../../archive/quarantine/quarantine-store.js';
import { createRefusalCountsReader } from '../../archive/read-refusal-counts.js';
import { followsAnyInScope, type SourceScope } from '../../domain/rights.js';
import type { LedgerView } from '../../index/ledger-view.js';
import { createSummary } from '../../index/questions/create-summary.js';
import { filterNames } from '../../index/questions/filter-names.js';
import { createFreshView } from '../../index/questions/fresh-view.js';
import type { BodyReader } from '../../lib/http/body-reader.js';
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
import type { Health } from '../answers/health.js';
import type { SubscriberFigures } from '../answers/subscribers.js';
import type { ServiceFacts } from '../health/checks/reconcile-issues.js';
import type { CredentialSettings } from '../health/credential-states.js';
import type { FactSources } from '../health/read-facts.js';
import { createReconcileReportReader } from '../health/reconcile-report-reader.js';
import { createVerifyReportReader } from '../health/verify-report-reader.js';
import type { AdminToken } from './access/access.js';
import { createAccessLedger } from './access/access-ledger.js';
import { type ChangeGate, createChangeGate, createReadGate } from './access/gates.js';
import { createSignIn, type FailedSignIn } from './access/sign-in.js';
import { createAdminApp } from './admin-app.js';
import { adminRoutes } from './api/admin-routes.js';
import { createDownloadGate, type DownloadLimits } from './api/content/download-gate.js';
import type { ImportFormOptions } from './api/content/import-form.js';
import { recordsOf } from './jobs/find-service-record.js';
import { createHealthNotices, noticeSubscribers } from './notify-of-health.js';
import { type ReplicaFacts, readHealth } from './read-health.js';
import { createDeadEventCounter } from './subscribers/count-dead-events.js';
import { createJobEvents } from './subscribers/job-events.js';
import { listSubscribers } from './subscribers/list-subscribers.js';

export interface AdminOptions {
  readonly self: ReplicaFacts;
  readonly service: ServiceFacts;
  readonly replicaIssues: FactSources<SubscriberFigures>['replicaIssues'];
  /** Whether this replica does what one of all does. Rejects with `StoreError`. */
  readonly isFirstReplica: () => Promise<boolean>;
  readonly sources: ReadonlyMap<string, Source>;
  /** Names of all regions that the configuration knows addresses of. */
  readonly filterRegions: readonly string[];
  readonly credentials: readonly CredentialSettings[];
  readonly refusals: Pick<RefusalRing, 'list'>;
  readonly view: LedgerView;
  readonly metrics: Metrics;
  readonly keyPrefixes: readonly string[];
  /** Folder of the dashboard's files. */
  readonly page: string;
  /** Host names of the port, besides addresses and internal names. */
  readonly hosts: readonly string[];
  /** Bearer tokens by name. */
  readonly tokens: Readonly<Record<string, AdminToken>>;
  /** Called for each failed sign-in. */
  readonly onSignInFailure: (failure: FailedSignIn) => void;
  readonly limits: DownloadLimits & ImportFormOptions['limits'];
  readonly bodyReader: BodyReader;
  readonly recovery: RecoveryParts;
  /** The configured subscribers, and the outbox that sends to them. */
  readonly events: Pick<NotifyParts, 'outbox' | 'subscribers'>;
  readonly reconciling: ReconcileRuns;
  /** Whether live traffic needs the resources that a replay would take. */
  readonly busy: () => boolean;
  /** Whether callbacks arrive: operators' reads take turns then. */
  readonly isReceiving: () => boolean;
  /** Called for every item of a replay that failed. */
  readonly onReplayFailure: NonNullable<ReplayItemParts['onReplayFailure']>;
  /** Called with unexpected errors: bugs. */
  readonly onUnexpected: (error: unknown) => void;
}

/** Everything of the admin port. */
export interface Admin {
  readonly app: Express;
  readonly changes: Pick<ChangeGate, 'close' | 'whenEmpty'>;
  /** Starts following the ledger, running replays, and notifying of the health. */
  start(): void;
  /** Stops the replays and notices of this replica, while the ledger still takes lines; another replica resumes them. */
  stopReplays(): Promise<void>;
  stop(): Promise<void>;
}

/** Throws while it is not known how callbacks fared, and which jobs fail. */
function knownIssues({ verdict, unknown }: Health) {
  if (unknown.callbacks !== undefined || unknown.failing !== undefined)
    throw new Error('the ledger is not read yet');
  return verdict.issues;
}

export function createAdmin(options: AdminOptions): Admin {
  const { self, service, sources, metrics, view, recovery, bodyReader, limits, onUnexpected } = options;
  const { store, archive, ledger, retained, retention } = recovery;
  const { outbox, subscribers } = options.events;
  const quarantine = createQuarantineStore(store);
  const onReleased = () => metrics.ledger.quarantine('released');
  const release: ReleaseParts = { quarantine, view, sources, archive, ledger, onReleased };
  const replays = createReplays({
    ...{ recovery, release, ledger, view },
    notify: { outbox, subscribers, view, store },
    replays: createReplayStore(store),
    owner: self.replica,
    busy: options.busy,
    onReplayFailure: options.onReplayFailure,
    onError: onUnexpected,
  });
  const lastVerify = createVerifyReportReader(store);
  const accessLedger = createAccessLedger(ledger);
  const signIn = createSignIn({
    tokens: options.tokens,
    onFailure(failure) {
      options.onSignInFailure(failure);
      accessLedger.signInFailed(failure);
    },
  });
  const changes = createChangeGate();
  const refusalCounts = createRefusalCountsReader(store, Date.now);
  const fresh = createFreshView(view);
  const dead = createDeadEventCounter(store, view.sent);
  const facts: FactSources<SubscriberFigures> = {
    ...{ view, service, retained, retention, lastVerify },
    sources: options.credentials,
    replicaIssues: options.replicaIssues,
    summarise: createSummary(view),
    senderRefusals: refusalCounts.lastDay,
    lastReconcile: createReconcileReportReader(store, view.settled),
    subscribers: (scope, signal) => listSubscribers({ outbox, view, dead }, scope, signal),
  };
  const health = () => readHealth(self, facts, Date.now());
  const notices = createHealthNotices({
    ...{ outbox, store, onError: onUnexpected, health },
    isFirst: options.isFirstReplica,
    isWritable: () => self.store.status().writable,
    subscribers: noticeSubscribers(subscribers),
  });
  const names = filterNames(
    sources.keys(),
    options.filterRegions,
    new Map([...sources].map(([name, { context }]) => [name, context])),
  );
  const subscriberNames = (scope: SourceScope) =>
    [...subscribers].flatMap(([name, { sources }]) => (followsAnyInScope(scope, sources) ? [name] : []));
  const routes = adminRoutes({
    ...{ store, archive, ledger, view, sources, recovery, retained, retention, service, bodyReader, limits },
    ...{ version: self.version, replica: self.replica, draining: self.draining },
    ...{ quarantine, release, replays, fresh, signIn, accessLedger, outbox, dead, names, subscriberNames },
    health: { self, facts, view, fresh, names, subscriberNames, refusedRequests: refusalCounts.between },
    refusalCounts: refusalCounts.daily,
    refusals: options.refusals,
    keyPrefixes: options.keyPrefixes,
    reconciling: options.reconciling,
    records: recordsOf(recovery),
    clock: Date.now,
    downloads: createDownloadGate(limits),
    trial: createTrialDecoder(sources),
    jobEvents: createJobEvents(store, view, outbox),
    subscribers: (scope: SourceScope, signal?: AbortSignal) =>
      listSubscribers({ outbox, view, dead, fresh }, scope, signal),
  });
  return {
    app: createAdminApp({
      ...{ metrics, bodyReader, limits, onUnexpected, routes, signIn, changes },
      ...{ hosts: options.hosts, page: options.page },
      reads: createReadGate({ isReceiving: options.isReceiving }),
      onSignedIn: accessLedger.signedIn,
    }),
    changes,
    start() {
      view.start();
      metrics.verify.watchReports(lastVerify);
      metrics.verdict.watchIssues(async () => knownIssues(await health()));
      replays.start();
      notices.start();
    },
    async stopReplays() {
      await Promise.all([replays.stop(), notices.stop()]);
    },
    stop: view.stop,
  };
}

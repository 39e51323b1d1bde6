import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { countRefusals } from '../archive/count-refusals.js';
import { createErasures } from '../archive/erasure/erasures.js';
import { createQuarantine } from '../archive/quarantine/quarantine.js';
import type { Config } from '../config/config.js';
import type { StartIndex } from '../index/fill/open-index-of-store.js';
import type { Logger } from '../observe/logger.js';
import { createMetrics } from '../observe/metrics/metrics.js';
import { createRefusalLog } from '../observe/refusal-log.js';
import { createRefusalRing, mergedRefusals } from '../observe/refusal-ring.js';
import { createUnexpectedLog } from '../observe/unexpected-log.js';
import type { AdminToken } from '../operations/admin/access/access.js';
import { reportSignIns } from '../operations/admin/access/report-sign-ins.js';
import { createAdmin } from '../operations/admin/admin.js';
import { reportIndex } from '../operations/admin/report-index.js';
import { credentialSettings } from '../operations/health/credential-states.js';
import { issuesOfReplicas } from '../operations/health/replica-issues.js';
import { createReplicaReportsReader, isFirstReplica } from '../operations/health/replica-reports.js';
import { compileMalformedSender, createSources } from '../receive/access/sources.js';
import { Admission } from '../receive/admission.js';
import { mountHealth, type Readiness } from '../receive/health-routes.js';
import { createReceiver } from '../receive/receive.js';
import { createDeliveryReport } from '../receive/report.js';
import { createPublicApp, mountCallbacks, mountFallbacks } from '../receive/router.js';
import { StoreError } from '../store/object-store.js';
import type { OnStoreCall } from '../store/probe/measure-store.js';
import type { StoreProofTarget } from '../store/probe/store-proof.js';
import { conditionOf } from '../store/store-condition.js';
import type { OutboxTimes } from '../subscribers/run-subscriber.js';
import { openArchiveParts } from './archive-parts.js';
import { createBackgroundWork } from './background-work.js';
import { serviceLimits } from './fixed-limits.js';
import { indexOfService, type OpenLedgerOptions } from './open-ledger.js';
import { openOutbox } from './open-outbox.js';
import { createPorts } from './ports.js';
import { createReconciler } from './reconciler.js';
import { canAskService } from './speech-options.js';
import { createStoreFailureLog } from './store/store-failure-log.js';
import { StoreHealth } from './store/store-health.js';

/** Addresses of a running service, and whether it accepts callbacks yet. */
export interface Listening {
  readonly publicUrl: string;
  readonly adminUrl: string;
  /** Location of the store, without secrets. */
  readonly store: string;
  /** Why callbacks are still answered 503; null when the replica is ready. */
  readonly notReady: string | null;
}

export interface Service {
  /**
   * Opens both ports, then proves the store in the background: until it is proven `/readyz` and callbacks are answered
   * 503. Resolves when the replica is ready, or after `FIRST_VERDICT_WAIT` without a result.
   *
   * Rejects when a port cannot be opened, and with `WeakStoreError` or `OtherStoreError` when the store turns out within that
   * time to overwrite objects, or not to be the pinned one; when it turns out later, `onFatal` is called.
   */
  start(): Promise<Listening>;
  /**
   * Drains: the replica is not ready at once, serves requests during the drain delay, then accepts no new ones. Deliveries
   * and changes in flight may finish until the deadline; then connections are cut, uploads aborted, the ledger flushed.
   */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly version: string;
  /** Bearer tokens of the admin port by name; at least one. */
  readonly adminTokens: Readonly<Record<string, AdminToken>>;
  /** Replaces fixed limits; for tests. */
  readonly limits?: Parameters<typeof serviceLimits>[1];
  /** Folder in which this machine keeps the index and remembers its stores. Default: it has none. */
  readonly memory?: string | null;
  /** Opens the index. Default: in a worker; for tests, because starting one is most of what a small service costs. */
  readonly startIndex?: StartIndex;
  /** Probes the store at the start. Default: all of it; for tests of other things, as it is half of what a small service costs. */
  readonly probe?: StoreProofTarget['probe'];
  /** Pauses of the senders to subscribers. Default: those of production; for tests. */
  readonly outboxTimes?: OutboxTimes;
  /** Ends the process: the store was found to be unfit after the start. */
  readonly onFatal: (error: Error) => void;
}

/** Two folders up and down again, from src/app as well as from dist/chunks, where the bundle puts this file. */
const PAGE = fileURLToPath(new URL('../operations/dashboard/', import.meta.url));

/** Failed sign-ins that are listed as refusals. */
const SIGN_INS_KEPT = 200;

/** Milliseconds that aborted deliveries have to clean up, and the ledger to flush. */
const ABORT_WAIT = 5_000;

/** Milliseconds that the start waits for the proof of the store, which usually takes a fraction of a second. */
const FIRST_VERDICT_WAIT = 3_000;

/** Milliseconds that readiness waits for the index to be opened, so that all of the program is loaded: its disk may hang. */
const INDEX_WAIT = 5_000;

/** The composition root: builds every part from the configuration and ties them together. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { config, log, version, onFatal } = options;
  const limits = serviceLimits(config.limits, options.limits);
  const sourceNames = Object.keys(config.sources);
  const regionNames = Object.keys(config.egress.regions);
  const subscribers = Object.keys(config.subscribers);
  const metrics = createMetrics({ sources: sourceNames, regions: regionNames, subscribers, version });

  // Store, archive, ledger, and the memory that all bodies pass through.
  const onStoreCall: OnStoreCall[] = [metrics.store.called];
  const onSegment = [metrics.ledger.segmentWritten];
  let knownKeys = (): readonly string[] => [];
  const opening: OpenLedgerOptions = {
    indexFiles: indexOfService(config, options.memory ?? null),
    startIndex: options.startIndex,
    onStoreCall,
    knownKeys: () => knownKeys(),
    onStoreNotice: (message) => log.warn({ event: 'store-notice' }, message),
    onIndexOpened: reportIndex(log),
    onNewerLines: (segment) =>
      log.warn(
        { event: 'ledger-newer-lines', segment },
        'the ledger holds lines that a newer version wrote and this one does not read: upgrade this replica',
      ),
  };
  const parts = await openArchiveParts(config, opening, onSegment);
  const { store, budget, archive, ledger, view, speech, recovery } = parts;
  const erasures = createErasures(store);
  const failures = createStoreFailureLog(log);
  const storeHealth = new StoreHealth(config, {
    store,
    erasures,
    ledger,
    log,
    failures,
    memory: options.memory ?? null,
    probe: options.probe,
  });
  onStoreCall.push(storeHealth.called);
  knownKeys = () => [...ledger.written(), ...storeHealth.written()];
  const replicaReports = createReplicaReportsReader(store, config.store.canaryInterval);

  const outbox = openOutbox(config, store, erasures, metrics.outbox, log, options.outboxTimes);
  if (subscribers.length > 0) onSegment.push(outbox.wake);

  const draining = new AbortController();
  let isLoaded = false;
  function readiness(): Readiness {
    if (draining.signal.aborted) return { ready: false, reason: 'this replica is shutting down' };
    const found = storeHealth.readiness();
    return found.ready && !isLoaded ? { ready: false, reason: 'the program is not loaded yet' } : found;
  }

  // Receiving.
  const refusalCounter = countRefusals(store, () => storeHealth.readiness().ready);
  const refusals = createRefusalRing(refusalCounter.add);
  const signInRefusals = createRefusalRing(refusalCounter.add, SIGN_INS_KEPT);
  const refusalLog = createRefusalLog(log);
  const unexpectedLog = createUnexpectedLog(log);
  const onUnexpected = (error: unknown) => {
    if (!(error instanceof StoreError)) return unexpectedLog.unexpected(error);
    failures.failed('store-failed', { reason: error.message, condition: conditionOf(error) });
  };
  const admission = new Admission(
    { maxConcurrent: limits.maxConcurrentDeliveries, maxWaiters: limits.maxBudgetWaiters },
    budget,
    storeHealth.gate,
  );
  const isBusy = () => budget.waiters > 0 || admission.active >= limits.maxConcurrentDeliveries / 2;
  const sources = createSources(config.sources, config.egress.regions, config.receiver.trustedProxies);
  const { deliveries } = metrics;
  const receiver = createReceiver({
    sources,
    admission,
    archive,
    quarantine: createQuarantine(store),
    erasures,
    ledger,
    limits,
    observer: createDeliveryReport({ deliveries, ledger: metrics.ledger, log, refusalLog, refusals }),
  });
  const publicApp = createPublicApp();
  const drain = { bytes: limits.drainBytes, ms: limits.drainTime };
  const answering = { drain, draining: draining.signal, onUnexpected };
  const routes = { receiver, bodyLimits: limits, ...answering };
  mountCallbacks(publicApp, routes);
  mountHealth(publicApp, readiness);
  mountFallbacks(publicApp, routes);

  let port: number | null = null;
  const reconciler = createReconciler(recovery, metrics.recovery, log, view.failingJobs);

  // Admin port.
  const memory = () => ({ total: budget.total, used: budget.used, waiters: budget.waiters });
  const admin = createAdmin({
    settings: {
      tokens: options.adminTokens,
      hosts: config.admin.hosts,
      page: PAGE,
      regions: regionNames,
      keyPrefixes: config.keyPrefixes,
      credentials: credentialSettings(config.sources),
      service: { configured: canAskService(config), interval: config.recovery.interval },
    },
    self: {
      ...{ version, readiness, memory, ownIssues: () => storeHealth.ownIssues(), regions: speech.regions },
      replica: config.replicaName,
      draining: () => draining.signal.aborted,
      store: { location: store.location, status: () => storeHealth.status() },
      activeDeliveries: () => admission.active,
      callbackAddress: () => ({ url: config.receiver.publicUrl, port }),
    },
    replicas: {
      issues: async () => issuesOfReplicas(await replicaReports(), storeHealth.canaryKey),
      isFirst: async () => isFirstReplica(await replicaReports(), storeHealth.canaryKey),
    },
    receiving: {
      refusals: mergedRefusals(refusals, signInRefusals),
      isReceiving: () => admission.isReceiving,
      ...{ sources, limits, isBusy },
    },
    view,
    recovery,
    reconciling: reconciler,
    events: { outbox, subscribers: new Map(Object.entries(config.subscribers)) },
    metrics,
    report: {
      signInFailed: reportSignIns({ metrics: metrics.signIns, refusalLog, refusals: signInRefusals }),
      replayFailed: (failure) =>
        log.warn({ event: 'replay-failed', ...failure }, 'an item of a replay failed'),
      unexpected: onUnexpected,
    },
  });

  const background = createBackgroundWork({
    config,
    parts,
    metrics,
    log,
    failures,
    outbox,
    reconciler,
    isStoreReady: () => readiness().ready,
    isBusy,
  });

  const ports = createPorts({
    refusalLog,
    refusals,
    isFromSender: compileMalformedSender(sources, config.receiver.trustedProxies),
    publicApp,
    adminApp: admin.app,
    config,
    limits,
    metrics: metrics.connections,
    deliveries,
    log,
  });

  for (const { source, credentials } of credentialSettings(config.sources)) {
    for (const { name, expires } of credentials) {
      if (expires !== null) metrics.deliveries.credentialExpires(source, name, expires);
    }
  }
  metrics.deliveries.watchInFlight(() => admission.active);
  metrics.store.watchBudget(() => ({ size: budget.total, used: budget.used, waiters: budget.waiters }));
  metrics.process.watchHealth(() => ({
    ready: readiness().ready,
    draining: draining.signal.aborted,
    lastSuccessAt: storeHealth.status().lastSuccessAt,
  }));

  /** Rejects with `WeakStoreError` or `OtherStoreError`; ends without being ready only when the service is stopped before. */
  async function becomeReady(): Promise<void> {
    if (!(await storeHealth.prove()) || draining.signal.aborted) return;
    const opened = view.opened().catch(() => undefined);
    await Promise.race([opened, sleep(INDEX_WAIT, null, { ref: false })]);
    if (draining.signal.aborted) return;
    isLoaded = true;
    if (readiness().ready) log.info({ event: 'ready' }, 'the store is proven: callbacks are accepted');
    erasures.load();
    background.startWriting();
  }

  return {
    async start() {
      const addresses = await ports.open();
      port = Number(new URL(addresses.publicUrl).port || 80);
      let started = false;
      const verdict = becomeReady().catch((error) => {
        if (!started) throw error;
        onFatal(error);
      });
      await Promise.race([verdict, sleep(FIRST_VERDICT_WAIT, null, { ref: false })]);
      started = true;
      if (!draining.signal.aborted) {
        // Not before the store is marked: its index would be opened twice.
        admin.start();
        background.startSweeping();
      }
      return { ...addresses, store: store.location, notReady: readiness().reason };
    },

    async stop() {
      draining.abort();
      storeHealth.stopProving();
      // A start in flight opens its ports first; otherwise they would open after the drain.
      const listening = await ports.whenSettled();
      const writingStopped = Promise.all([background.stopWriting(), admin.stopReplays()]);
      if (listening) await sleep(config.receiver.drainDelay);
      admission.close();
      admin.changes.close();
      const deadline = sleep(config.receiver.drainDeadline, null, { ref: false });
      await ports.drain('public', deadline);
      // Reads are cut off as soon as no change is in flight.
      await ports.drain('admin', Promise.race([admin.changes.whenEmpty(), deadline]));
      const others = [writingStopped, admin.stop(), storeHealth.stop(), refusalCounter.stop()];
      await withinAbortWait([admission.whenEmpty(), admin.changes.whenEmpty(), ...others]);
      background.stopSweeping();
      for (const each of [refusalLog, unexpectedLog, ports, metrics]) each.close();
      if (await withinAbortWait([parts.close()])) return;
      log.warn({ event: 'store-hangs' }, 'the store did not answer: work that waited for it was abandoned');
    },
  };
}

/** False when the work has not ended in time: a store that hangs must not delay the end of the process. */
function withinAbortWait(work: readonly Promise<unknown>[]): Promise<boolean> {
  const ended = Promise.all(work).then(() => true);
  return Promise.race([ended, sleep(ABORT_WAIT, false, { ref: false })]);
}

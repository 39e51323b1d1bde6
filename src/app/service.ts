import { setTimeout as sleep } from 'node:timers/promises';
import { reportSignIns } from '../admin/access/report-sign-ins.js';
import { createAdmin } from '../admin/admin.js';
import { createAdminServer } from '../admin/admin-server.js';
import { createQuarantine } from '../archive/quarantine/quarantine.js';
import { type RegularRescue, rescueRegularly } from '../capture/rescue-regularly.js';
import type { Config } from '../config/config.js';
import { releaseYoungGeneration } from '../observe/garbage-collection.js';
import { createCanary } from '../observe/health.js';
import type { Logger } from '../observe/logger.js';
import { createMetrics } from '../observe/metrics.js';
import { createRefusalLog } from '../observe/refusal-log.js';
import { createRefusalRing, mergedRefusals } from '../observe/refusal-ring.js';
import { createUnexpectedLog } from '../observe/unexpected-log.js';
import { createSources } from '../receiver/access/sources.js';
import { createAdmission } from '../receiver/admission.js';
import { createBodyReader } from '../receiver/http/body-reader.js';
import { drainServer } from '../receiver/http/drain-server.js';
import { mountHealth, type Readiness } from '../receiver/http/health-routes.js';
import { listen } from '../receiver/http/listen.js';
import { createPublicServer } from '../receiver/http/public-server.js';
import { createPublicApp, mountCallbacks, mountFallbacks } from '../receiver/http/router.js';
import { createReceiver } from '../receiver/receive.js';
import { createReport } from '../receiver/report.js';
import { reconcileRegularly } from '../recovery/reconcile-regularly.js';
import { StoreGoneError } from '../store/object-store.js';
import { createStoreProof } from '../store/store-proof.js';
import { startSweeping } from '../store/sweep.js';
import { openCore, storeClaim } from './archive-core.js';
import { boundPorts } from './bound-ports.js';
import { canAskService } from './speech-options.js';
import { storeIdentity } from './store-options.js';

/** Where a running service listens, and whether it takes callbacks yet. */
export interface Listening {
  readonly publicUrl: string;
  readonly adminUrl: string;
  /** Location of the store, without secrets. */
  readonly store: string;
  /** Why callbacks are still answered 503, in words; null when the replica is ready. */
  readonly notReady: string | null;
}

export interface Service {
  /**
   * Opens both ports, then proves the store in the background: until it is proven `/readyz` says no and callbacks
   * are answered 503. Resolves when the replica is ready, or after `FIRST_VERDICT_WAIT` without a verdict.
   *
   * Rejects when a port cannot be opened, and with `WeakStoreError` when the store turns out within that time to
   * overwrite objects; when it turns out later, `onFatal` is called.
   */
  start(): Promise<Listening>;
  /**
   * Drains: not ready at once, requests served for the drain delay, then no new ones; deliveries, and changes
   * on the admin port, under way finish until the deadline; the rest is cut, its uploads aborted, the ledger
   * flushed.
   */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly version: string;
  /** Bearer tokens of the admin port by name; at least one. */
  readonly adminTokens: Readonly<Record<string, string>>;
  /** Ends the process: the store turned out unfit after the start. */
  readonly onFatal: (error: Error) => void;
}

/** Milliseconds between looks for stale uploads; each costs a listing. */
const SWEEP_EVERY = 3_600_000;

/** Milliseconds between looks for live sessions that were cut short; each reads one local folder. */
const RESCUE_EVERY = 10_000;

/** Failed sign-ins that are remembered. */
const SIGN_INS_KEPT = 200;

/** Milliseconds that aborted deliveries get to clean up behind themselves, and the ledger to be flushed. */
const ABORT_WAIT = 5_000;

/** Milliseconds the start waits for the verdict on the store: a good one takes a fraction of a second. */
const FIRST_VERDICT_WAIT = 3_000;

/** Longest pause between attempts to prove the store, in milliseconds. */
const MAX_PROBE_PAUSE = 5_000;

/** The composition root: builds every part from the configuration and ties them together. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { config, log, version, onFatal } = options;
  const { limits } = config;
  const metrics = createMetrics({
    sources: Object.keys(config.sources),
    regions: Object.keys(config.egress.regions),
    version,
  });

  // Store, archive, ledger, and the memory everything passes through.
  const core = await openCore(config, {
    onStoreCall: metrics.store.called,
    onSegment: metrics.ledger.segmentWritten,
    onStoreNotice: (message) => log.warn({ event: 'store-notice' }, message),
  });
  const { store, budget, archive, ledger, speech } = core;
  const quarantine = createQuarantine(store);
  const proof = createStoreProof({
    ...storeClaim(config, store),
    retryAfter: Math.min(config.store.canaryInterval, MAX_PROBE_PAUSE),
    onTrouble: (message, cause) => log.error({ event: 'store-probe', err: cause }, message),
  });
  const canary = createCanary({
    isGone: (error) => error instanceof StoreGoneError,
    store,
    replica: config.replicaName,
    interval: config.store.canaryInterval,
    onChange: (trouble) => {
      if (trouble === null) log.info({ event: 'store-writable' }, 'the store is writable again');
      else log.error({ event: 'store-not-writable' }, `the store cannot be written: ${trouble}`);
    },
  });

  // Receiving.
  const refusals = createRefusalRing();
  const signInRefusals = createRefusalRing(SIGN_INS_KEPT);
  const refusalLog = createRefusalLog({ log });
  const admission = createAdmission(
    { maxConcurrent: limits.maxConcurrentDeliveries, maxWaiters: limits.maxBudgetWaiters },
    budget,
    () => proof.reason,
  );
  const bodyReader = createBodyReader();
  const sources = createSources(config.sources, config.egress.regions, config.receiver.trustedProxies);
  const receiver = createReceiver({
    sources,
    admission,
    archive,
    quarantine,
    ledger,
    limits,
    observer: createReport({
      deliveries: metrics.deliveries,
      ledger: metrics.ledger,
      log,
      refusalLog,
      refusals,
    }),
  });

  let draining = false;
  let stopSweeping = () => {};
  let reconciling: { stop(): Promise<void> } | null = null;
  let rescuing: RegularRescue | null = null;
  const readiness = (): Readiness => {
    if (draining) return { ready: false, reason: 'this replica is shutting down' };
    if (!proof.proven) return { ready: false, reason: proof.reason };
    const { writable, reason } = canary.status();
    return { ready: writable, reason: writable ? null : reason };
  };
  for (const [name, source] of Object.entries(config.sources)) {
    for (const [credential, { expires }] of Object.entries(source.credentials)) {
      if (expires !== null) metrics.deliveries.credentialExpires(name, credential, expires);
    }
  }
  metrics.deliveries.watchInFlight(() => admission.active);
  metrics.store.watchBudget(() => ({ size: budget.total, used: budget.used, waiters: budget.waiters }));
  metrics.process.watchHealth(() => ({
    ready: readiness().ready,
    draining,
    lastSuccessAt: canary.status().lastSuccessAt,
  }));

  const unexpectedLog = createUnexpectedLog(log);
  const onUnexpected = unexpectedLog.unexpected;

  // Seeing and repairing.
  const admin = createAdmin({
    bodyReader,
    store,
    archive,
    ledger,
    recovery: core.recovery,
    busy: () => budget.waiters > 0 || admission.active >= limits.maxConcurrentDeliveries / 2,
    sources,
    refusals: mergedRefusals(refusals, signInRefusals),
    onSignInFailure: reportSignIns({ metrics: metrics.signIns, refusalLog, refusals: signInRefusals }),
    metrics,
    readiness,
    version,
    limits,
    onUnexpected,
    onReplayFailure: (failure) =>
      log.warn({ event: 'replay-failed', ...failure }, 'an item of a replay failed'),
    hosts: config.admin.hosts,
    tokens: options.adminTokens,
    replica: config.replicaName,
    draining: () => draining,
    storeStatus: () => canary.status(),
    memory: () => ({ total: budget.total, used: budget.used, waiters: budget.waiters }),
    activeDeliveries: () => admission.active,
    regions: speech.regions,
    filterRegions: Object.keys(config.egress.regions),
    service: { configured: canAskService(config), interval: config.recovery.interval },
    credentials: Object.entries(config.sources).map(([source, { credentials }]) => ({
      source,
      credentials: Object.entries(credentials).map(([name, credential]) => ({ name, ...credential })),
    })),
    records: {
      regions: speech.regions,
      record: (region, jobId, signal) => speech.jobs(region).record(jobId, signal),
    },
  });

  // Ports.
  const drain = { bytes: limits.drainBytes, ms: limits.drainTime };
  const app = createPublicApp();
  const answering = { drain, isDraining: () => draining, onUnexpected };
  mountCallbacks(app, { receiver, bodyReader, bodyLimits: limits, ...answering });
  mountHealth(app, readiness);
  mountFallbacks(app, answering);
  const publicServer = createPublicServer(app, { ...config.receiver, maxHeaderBytes: limits.maxHeaderBytes });
  const adminServer = createAdminServer(admin.app, {
    ...config.receiver,
    maxHeaderBytes: limits.maxHeaderBytes,
  });

  const bound = boundPorts({
    servers: { public: publicServer, admin: adminServer },
    limits,
    metrics: metrics.connections,
    log,
  });

  let opening: Promise<Pick<Listening, 'publicUrl' | 'adminUrl'>> | null = null;

  async function openPorts() {
    return {
      publicUrl: await listen(publicServer, { ...config.receiver, section: 'receiver', variable: 'TR_PORT' }),
      adminUrl: await listen(adminServer, { ...config.admin, section: 'admin', variable: 'TR_ADMIN_PORT' }),
    };
  }

  /** Rejects with `WeakStoreError`; ends without being ready only when the service is stopped before. */
  async function becomeReady(): Promise<void> {
    canary.start();
    if (!(await proof.start())) return;
    await canary.check();
    // Both write artefacts, so that they have to wait for the proof as deliveries do.
    if (draining) return;
    rescuing = rescueRegularly({
      parts: {
        ...{ store, archive, ledger, pauseMs: 500 },
        location: storeIdentity(config, store.location),
        folder: config.capture.rescueFolder,
      },
      log,
      interval: RESCUE_EVERY,
    });
    const { interval } = config.recovery;
    if (interval === null || !canAskService(config)) return;
    reconciling = reconcileRegularly({ parts: core.recovery, interval, metrics: metrics.recovery, log });
  }

  return {
    async start() {
      opening = openPorts();
      const addresses = await opening;
      admin.start();
      stopSweeping = startSweeping(store, {
        maxAgeMs: config.store.sweepUploadsAfter,
        intervalMs: SWEEP_EVERY,
        onSwept: (count) => {
          metrics.store.sweptStaleUploads(count);
          log.info({ event: 'swept', count }, 'stale uploads aborted');
        },
        onError: (error) => log.warn({ event: 'sweep-failed', err: error }, 'stale uploads were not swept'),
      });
      releaseYoungGeneration();
      let started = false;
      const verdict = becomeReady().catch((error) => {
        if (!started) throw error;
        onFatal(error);
      });
      await Promise.race([verdict, sleep(FIRST_VERDICT_WAIT, null, { ref: false })]);
      started = true;
      return { ...addresses, store: store.location, notReady: readiness().reason };
    },

    async stop() {
      draining = true;
      proof.stop();
      // A start under way opens its ports first, or they would be opened behind the drain.
      await opening?.catch(() => undefined);
      const recoveryStopped = Promise.all([reconciling?.stop(), rescuing?.stop(), admin.letGo()]);
      if (publicServer.listening) await sleep(config.receiver.drainDelay);
      admission.close();
      admin.changes.close();
      const deadline = sleep(config.receiver.drainDeadline, null, { ref: false });
      await drainServer(publicServer, deadline);
      // What only reads is cut as soon as nothing is being changed.
      await drainServer(adminServer, Promise.race([admin.changes.whenEmpty(), deadline]));
      const others = [recoveryStopped, admin.stop(), canary.stop()];
      await withinAbortWait([admission.whenEmpty(), admin.changes.whenEmpty(), ...others]);
      stopSweeping();
      bodyReader.stop();
      refusalLog.close();
      unexpectedLog.close();
      bound.close();
      metrics.close();
      if (await withinAbortWait([core.close()])) return;
      log.warn({ event: 'store-hangs' }, 'the store did not answer: what waited for it was given up');
    },
  };
}

/** False when something has not ended in time: a store that hangs must not hold up the end of the process. */
function withinAbortWait(work: readonly Promise<unknown>[]): Promise<boolean> {
  const ended = Promise.all(work).then(() => true);
  return Promise.race([ended, sleep(ABORT_WAIT, false, { ref: false })]);
}

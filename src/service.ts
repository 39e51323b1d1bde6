import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAdmin } from './admin/admin.js';
import { createAdminServer } from './admin/admin-server.js';
import { createQuarantine } from './archive/quarantine.js';
import type { Config } from './config.js';
import { openCore, storeProof } from './core.js';
import { releaseYoungGeneration } from './observe/garbage-collection.js';
import { createCanary } from './observe/health.js';
import type { Logger } from './observe/logger.js';
import { createMetrics } from './observe/metrics.js';
import { createRefusalLog } from './observe/refusal-log.js';
import { createRefusalRing } from './observe/refusal-ring.js';
import { createAdmission } from './receiver/admission.js';
import { compileClientAddress } from './receiver/client-address.js';
import { drainServer } from './receiver/drain-server.js';
import { mountHealth, type Readiness } from './receiver/health-routes.js';
import { createPublicServer } from './receiver/public-server.js';
import { createReceiver } from './receiver/receive.js';
import { createReport } from './receiver/report.js';
import { createBodyClock } from './receiver/request-body.js';
import { createPublicApp, mountCallbacks, mountFallbacks } from './receiver/router.js';
import { createSources } from './receiver/sources.js';
import { reconcileRegularly } from './recovery/reconcile-regularly.js';
import { startSweeping } from './store/sweep.js';

/** Where a running service listens. */
export interface Listening {
  readonly publicUrl: string;
  readonly adminUrl: string;
  /** Location of the store, without secrets. */
  readonly store: string;
}

export interface Service {
  /**
   * Opens both ports once the store was tried. Rejects with `WeakStoreError` when the store cannot keep
   * first-write-wins; a store that merely cannot be reached is tried again while `/readyz` says no.
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

/** Milliseconds that aborted deliveries get to clean up behind themselves. */
const ABORT_WAIT = 5_000;

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
  });
  const { store, budget, archive, ledger, speech } = core;
  const quarantine = createQuarantine(store);
  const proof = storeProof(config, store, {
    onTrouble: (message, cause) => log.error({ event: 'store-probe', err: cause }, message),
    onUnfit: onFatal,
  });
  const canary = createCanary({ store, replica: config.replicaName, interval: config.store.canaryInterval });

  // Receiving.
  const refusals = createRefusalRing();
  const refusalLog = createRefusalLog({ log });
  const admission = createAdmission(
    { maxConcurrent: limits.maxConcurrentDeliveries, maxWaiters: limits.maxBudgetWaiters },
    budget,
    () => proof.reason,
  );
  const bodyClock = createBodyClock();
  const clientAddress = compileClientAddress(config.receiver.trustedProxies);
  const sources = createSources(config.sources, config.egress.regions, clientAddress);
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

  const onUnexpected = (error: unknown) => log.error({ event: 'unexpected', err: error }, 'unexpected error');

  // Seeing and repairing.
  const admin = createAdmin({
    store,
    archive,
    ledger,
    recovery: core.recovery,
    busy: () => budget.waiters > 0 || admission.active >= limits.maxConcurrentDeliveries / 2,
    sources,
    refusals,
    metrics,
    readiness,
    version,
    limits,
    onUnexpected,
    tokens: options.adminTokens,
    replica: config.replicaName,
    draining: () => draining,
    storeStatus: () => canary.status(),
    memory: () => ({ total: budget.total, used: budget.used, waiters: budget.waiters }),
    activeDeliveries: () => admission.active,
    regions: speech.regions,
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
  mountCallbacks(app, { receiver, bodyClock, bodyLimits: limits, ...answering });
  mountHealth(app, readiness);
  mountFallbacks(app, answering);
  const publicServer = createPublicServer(app, { ...config.receiver, maxHeaderBytes: limits.maxHeaderBytes });
  const adminServer = createAdminServer(admin.app, {
    ...config.receiver,
    maxHeaderBytes: limits.maxHeaderBytes,
  });

  return {
    async start() {
      await proof.start();
      admin.start();
      await canary.check();
      canary.start();
      stopSweeping = startSweeping(store, {
        maxAgeMs: config.store.sweepUploadsAfter,
        intervalMs: SWEEP_EVERY,
        onSwept: (count) => {
          metrics.store.sweptStaleUploads(count);
          log.info({ event: 'swept', count }, 'stale uploads aborted');
        },
        onError: (error) => log.warn({ event: 'sweep-failed', err: error }, 'stale uploads were not swept'),
      });
      const { interval } = config.recovery;
      if (interval !== null) {
        reconciling = reconcileRegularly({ parts: core.recovery, interval, metrics: metrics.recovery, log });
      }
      releaseYoungGeneration();
      return {
        publicUrl: await listen(publicServer, config.receiver),
        adminUrl: await listen(adminServer, config.admin),
        store: store.location,
      };
    },

    async stop() {
      draining = true;
      const recoveryStopped = Promise.all([reconciling?.stop(), admin.letGo()]);
      if (publicServer.listening) await sleep(config.receiver.drainDelay);
      admission.close();
      admin.changes.close();
      const deadline = sleep(config.receiver.drainDeadline, null, { ref: false });
      await drainServer(publicServer, deadline);
      // What only reads is cut as soon as nothing is being changed.
      await drainServer(adminServer, Promise.race([admin.changes.whenEmpty(), deadline]));
      const settled = Promise.all([admission.whenEmpty(), admin.changes.whenEmpty()]);
      await Promise.race([settled, sleep(ABORT_WAIT, null, { ref: false })]);
      await Promise.race([recoveryStopped, sleep(ABORT_WAIT, null, { ref: false })]);
      await ledger.close();
      await admin.stop();
      proof.stop();
      canary.stop();
      stopSweeping();
      bodyClock.stop();
      refusalLog.close();
      metrics.close();
      await core.close();
    },
  };
}

/** Resolves with the address as it can be typed into a browser. */
function listen(server: Server, { host, port }: { host: string; port: number }): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const { port: actual } = server.address() as AddressInfo;
      const shown =
        host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
      resolve(`http://${shown}:${actual}`);
    });
  });
}

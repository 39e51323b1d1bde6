import { createMetrics } from '../../observe/metrics/metrics.js';
import { compileMalformedSender } from '../../receive/access/sources.js';
import { serviceLimits } from '../fixed-limits.js';
import { createReconciler } from '../reconciler.js';
import { createBackgroundWork } from './background-work.js';
import { openAdmin } from './open-admin.js';
import { openReceiving } from './open-receiving.js';
import { openStorage } from './open-storage.js';
import { createPorts } from './ports.js';
import { ReplicaState } from './replica-state.js';
import { Service } from './service.js';
import type { ServiceOptions } from './service-options.js';

/** The composition root: builds every part from the configuration and ties them together. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { config, log, version } = options;
  const limits = serviceLimits(config.limits, options.limits);
  const metrics = createMetrics({
    sources: Object.keys(config.sources),
    regions: Object.keys(config.egress.regions),
    subscribers: Object.keys(config.subscribers),
    version,
  });
  const storage = await openStorage(options, metrics, limits);
  const { parts, failures, storeHealth, outbox } = storage;
  const replica = new ReplicaState(storeHealth);
  const receiving = openReceiving({ config, limits, log, metrics, storage, replica });
  const { sources, admission, isBusy, refusals, bounded, logRefusal } = receiving;
  const reconciler = createReconciler(parts.recovery, metrics.recovery, log, parts.view.failingJobs);
  const admin = openAdmin({ options, limits, metrics, storage, replica, receiving, reconciler });
  const background = createBackgroundWork({
    config,
    parts,
    metrics,
    log,
    failures,
    outbox,
    reconciler,
    isBusy,
    isStoreReady: () => replica.readiness().ready,
  });
  const ports = createPorts({
    config,
    limits,
    log,
    bounded,
    logRefusal,
    publicApp: receiving.app,
    adminApp: admin.app,
    metrics: metrics.connections,
    deliveries: metrics.deliveries,
    refusals: refusals.ofCallbacks,
    isFromSender: compileMalformedSender(sources, config.receiver.trustedProxies),
  });
  metrics.deliveries.watchInFlight(() => admission.active);
  const { budget } = parts;
  metrics.store.watchBudget(() => ({ size: budget.total, used: budget.used, waiters: budget.waiters }));
  metrics.process.watchHealth(() => ({
    ready: replica.readiness().ready,
    draining: replica.isDraining(),
    lastSuccessAt: storeHealth.status().lastSuccessAt,
  }));
  return new Service({ options, metrics, storage, replica, receiving, admin, background, ports });
}

import { countRefusals, type RefusalCounter } from '../../archive/count-refusals.js';
import { createQuarantine } from '../../archive/quarantine/quarantine.js';
import type { Config } from '../../config/config.js';
import { createBoundedLog } from '../../observe/bounded-log.js';
import type { Logger } from '../../observe/logger.js';
import type { Metrics } from '../../observe/metrics/metrics.js';
import { createRefusalLog } from '../../observe/refusal-log.js';
import { createRefusalRing } from '../../observe/refusal-ring.js';
import { createSources } from '../../receive/access/sources.js';
import { Admission } from '../../receive/admission.js';
import { mountHealth } from '../../receive/health-routes.js';
import { Receiver } from '../../receive/receive.js';
import { createDeliveryReport } from '../../receive/report.js';
import { createPublicApp, mountCallbacks, mountFallbacks } from '../../receive/router.js';
import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { conditionOf } from '../../store/store-condition.js';
import type { ServiceLimits } from '../fixed-limits.js';
import type { OpenStorage } from './open-storage.js';
import type { ReplicaState } from './replica-state.js';

/** Failed sign-ins that are listed as refusals. */
const SIGN_INS_KEPT = 200;

interface ReceivingParts {
  readonly config: Config;
  readonly limits: ServiceLimits;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly storage: OpenStorage;
  readonly replica: ReplicaState;
}

export type OpenReceiving = ReturnType<typeof openReceiving>;

/** The public app, the receiver behind it, and the logs of refusals and errors. */
export function openReceiving({ config, limits, log, metrics, storage, replica }: ReceivingParts) {
  const { parts, erasures, failures, storeHealth } = storage;
  const { store, budget, archive, ledger } = parts;
  const { deliveries } = metrics;
  const bounded = createBoundedLog(log);
  const logRefusal = createRefusalLog(bounded, log);
  const refusals = openRefusals(store, () => storeHealth.readiness().ready);
  const admission = new Admission(
    { maxConcurrent: limits.maxConcurrentDeliveries, maxWaiters: limits.maxBudgetWaiters },
    budget,
    storeHealth.gate,
  );
  const sources = createSources(config.sources, config.egress.regions, config.receiver.trustedProxies);
  const receiver = new Receiver({
    sources,
    admission,
    archive,
    erasures,
    ledger,
    limits,
    quarantine: createQuarantine(store),
    observer: createDeliveryReport({
      deliveries,
      log,
      bounded,
      logRefusal,
      ledger: metrics.ledger,
      refusals: refusals.ofCallbacks,
    }),
  });
  /** Logs unexpected errors of a request: bugs, and store failures by their condition. */
  const onUnexpected = (error: unknown): void => {
    if (error instanceof StoreError)
      failures.failed('store-failed', { reason: error.message, condition: conditionOf(error) });
    else
      bounded.write('unexpected', () => log.error({ event: 'unexpected', err: error }, 'unexpected error'));
  };
  const app = createPublicApp();
  const routes = {
    receiver,
    bodyLimits: limits,
    draining: replica.draining,
    drain: { bytes: limits.drainBytes, ms: limits.drainTime },
    onUnexpected,
  };
  mountCallbacks(app, routes);
  mountHealth(app, replica.readiness);
  mountFallbacks(app, routes);
  /** Whether callbacks need the process; background work then waits. */
  const isBusy = () => budget.waiters > 0 || admission.active >= limits.maxConcurrentDeliveries / 2;
  return { app, sources, admission, isBusy, refusals, bounded, logRefusal, onUnexpected };
}

/** Refusals are counted for all replicas, and the latest ones listed. */
function openRefusals(store: ObjectStore, isReady: () => boolean) {
  const counter: RefusalCounter = countRefusals(store, isReady);
  return {
    counter,
    ofCallbacks: createRefusalRing(counter.add),
    ofSignIns: createRefusalRing(counter.add, SIGN_INS_KEPT),
  };
}

import type { Config } from '../config/config.js';
import { type CanaryDiagnosis, createCanary } from '../observe/canary.js';
import type { Logger } from '../observe/logger.js';
import type { Readiness } from '../receive/health-routes.js';
import type { ObjectStore } from '../store/object-store.js';
import { createStoreProof } from '../store/probe/store-proof.js';
import { conditionOf, isRefusal } from '../store/store-condition.js';
import { remedyOf } from '../store/store-remedies.js';
import { storeProofTarget } from './archive-parts.js';
import type { StoreFailureLog } from './store-failure-log.js';

/** Longest pause between attempts to prove the store, in milliseconds. */
const MAX_PROBE_PAUSE = 5_000;

/** Whether the store may be trusted with deliveries: proven once at the start, and written to by a canary from then on. */
export function createStoreHealth(
  config: Config,
  store: ObjectStore,
  { log, failures }: { readonly log: Logger; readonly failures: StoreFailureLog },
) {
  const proof = createStoreProof({
    ...storeProofTarget(config, store),
    retryAfter: Math.min(config.store.canaryInterval, MAX_PROBE_PAUSE),
    onWarning: (message) => log.warn({ event: 'store-probe' }, message),
    onFailure: (reason, condition) =>
      failures.failed('store-probe', { reason: `the store cannot be proven writable: ${reason}`, condition }),
  });
  const canary = createCanary({
    diagnose,
    store,
    replica: config.replicaName,
    interval: config.store.canaryInterval,
    onChange: (failure) => {
      if (failure === null) return log.info({ event: 'store-writable' }, 'the store is writable again');
      const remedy = failure.condition === null ? undefined : remedyOf(failure.condition);
      log.error({ event: 'store-not-writable', remedy }, `the store cannot be written: ${failure.reason}`);
    },
  });
  return {
    /** Why the store is not proven yet; null once it is. */
    unprovenReason: () => proof.reason,
    status: canary.status,
    readiness(): Readiness {
      if (!proof.proven) return { ready: false, reason: proof.reason };
      const { writable, reason } = canary.status();
      return { ready: writable, reason: writable ? null : reason };
    },
    /** Resolves to true when the store is proven and the canary was checked, to false when `stopProving` came first. */
    async prove(): Promise<boolean> {
      canary.start();
      if (!(await proof.start())) return false;
      await canary.check();
      if (canary.status().writable)
        log.info({ event: 'ready' }, 'the store is proven: callbacks are accepted');
      return true;
    },
    stopProving: () => proof.stop(),
    /** Ends the canary and removes it. */
    stop: () => canary.stop(),
  };
}

function diagnose(error: unknown): CanaryDiagnosis {
  const condition = conditionOf(error);
  return { condition, refused: condition !== null && isRefusal(condition) };
}

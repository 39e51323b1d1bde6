import type { Config } from '../config/config.js';
import { createCanary } from '../observe/canary.js';
import type { Logger } from '../observe/logger.js';
import type { Readiness } from '../receiver/http/health-routes.js';
import { type ObjectStore, StoreGoneError } from '../store/object-store.js';
import { createStoreProof } from '../store/store-proof.js';
import { storeProofTarget } from './archive-parts.js';

/** Longest pause between attempts to prove the store, in milliseconds. */
const MAX_PROBE_PAUSE = 5_000;

/** Whether the store may be trusted with deliveries: proven once at the start, and written to by a canary from then on. */
export function createStoreHealth(config: Config, store: ObjectStore, log: Logger) {
  const proof = createStoreProof({
    ...storeProofTarget(config, store),
    retryAfter: Math.min(config.store.canaryInterval, MAX_PROBE_PAUSE),
    onProblem: (message, cause) => log.error({ event: 'store-probe', err: cause }, message),
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

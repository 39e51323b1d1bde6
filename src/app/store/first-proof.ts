import type { Config } from '../../config/config.js';
import type { Logger } from '../../observe/logger.js';
import type { ObjectStore } from '../../store/object-store.js';
import { markCopyServed } from '../../store/probe/copy-mark.js';
import { proveRepeatedly, type StoreProofTarget } from '../../store/probe/store-proof.js';
import type { StoreCondition } from '../../store/store-remedies.js';
import type { StoreFailureLog } from './store-failure-log.js';
import type { StoreIdentity } from './store-identity.js';
import { storeProofTarget } from './store-proof-target.js';

export interface StoreFault {
  readonly reason: string;
  readonly condition: StoreCondition | null;
}

interface FirstProofParts {
  readonly store: ObjectStore;
  readonly identity: Pick<StoreIdentity, 'begin'>;
  readonly log: Logger;
  readonly failures: StoreFailureLog;
  readonly probe?: StoreProofTarget['probe'] | undefined;
}

/** Proves the whole store once, before the replica stores anything. */
export class FirstProof {
  /** Why the store is not proven; null once it is. */
  fault: StoreFault | null = { reason: 'the store has not answered yet', condition: null };
  /** Settles when the first attempt has ended. */
  readonly tried: Promise<void>;
  readonly #endFirst: () => void;
  readonly #config: Config;
  readonly #parts: FirstProofParts;
  readonly #stopping = new AbortController();

  constructor(config: Config, parts: FirstProofParts) {
    this.#config = config;
    this.#parts = parts;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.tried = promise;
    this.#endFirst = resolve;
  }

  /**
   * Retries until the proof succeeds. Resolves to false when it was stopped first.
   *
   * @param retryAfter milliseconds between attempts
   */
  async prove(retryAfter: number): Promise<boolean> {
    const { store, identity, log, failures, probe } = this.#parts;
    const target = storeProofTarget(this.#config, store);
    const options = {
      ...target,
      probe: probe ?? target.probe,
      async identify() {
        await identity.begin();
        await markCopyServed(store);
      },
      retryAfter,
      onWarning: (message: string) => log.warn({ event: 'store-probe' }, message),
      onFailure: (reason: string, condition: StoreCondition | null) => {
        this.fault = { reason, condition };
        this.#endFirst();
        failures.failed('store-probe', {
          reason: `the store cannot be proven writable: ${reason}`,
          condition,
        });
      },
    };
    try {
      const isProven = await proveRepeatedly(options, this.#stopping.signal);
      if (isProven) this.fault = null;
      return isProven;
    } finally {
      this.#endFirst();
    }
  }

  stop(): void {
    this.#stopping.abort();
  }
}

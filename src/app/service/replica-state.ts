import type { Readiness } from '../../receive/health-routes.js';
import type { StoreHealth } from '../store/store-health.js';

/** Lifecycle state of a replica: loading, ready, draining. */
export class ReplicaState {
  /** The public port; null before it is open. */
  port: number | null = null;
  /** Whether the whole program is loaded. */
  isLoaded = false;
  readonly #storeHealth: Pick<StoreHealth, 'readiness'>;
  readonly #draining = new AbortController();

  constructor(storeHealth: Pick<StoreHealth, 'readiness'>) {
    this.#storeHealth = storeHealth;
  }

  /** Aborted once the replica is shutting down. */
  get draining(): AbortSignal {
    return this.#draining.signal;
  }

  readonly isDraining = (): boolean => this.#draining.signal.aborted;

  drain(): void {
    this.#draining.abort();
  }

  readonly readiness = (): Readiness => {
    if (this.isDraining()) return { ready: false, reason: 'this replica is shutting down' };
    const found = this.#storeHealth.readiness();
    return found.ready && !this.isLoaded ? { ready: false, reason: 'the program is not loaded yet' } : found;
  };
}

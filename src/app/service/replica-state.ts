import type { Readiness } from '../../receive/health-routes.js';
import type { StoreHealth } from '../store/store-health.js';

/** How far a replica is between its start and its end. */
export class ReplicaState {
  /** Port of callbacks; null before it is open. */
  port: number | null = null;
  /** Whether all of the program is loaded. */
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

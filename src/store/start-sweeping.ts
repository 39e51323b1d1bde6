import type { ObjectStore } from './object-store.js';

/** Milliseconds. A live process rewrites its canary at least every hour (`store.canaryInterval`). */
const CANARY_DEAD_AFTER = 86_400_000;

export interface SweepOptions {
  /**
   * Milliseconds; uploads begun (files: last written) longer ago by the store's clock are aborted. No live upload may last as long.
   */
  readonly maxAgeMs: number;
  /** Milliseconds between sweeps. */
  readonly intervalMs: number;
  /** Called after each sweep that aborted an upload. */
  readonly onSwept: (count: number) => void;
  readonly onError: (error: unknown) => void;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
}

/**
 * Aborts the uploads and removes the canaries of dead processes, now and at intervals. Any number of replicas may sweep
 * the same store.
 *
 * @returns stops the sweeping; a sweep in progress goes on to its end
 */
export function startSweeping(store: ObjectStore, options: SweepOptions): () => void {
  const { clock = Date.now } = options;
  // A process whose own clock is ahead would end what is alive.
  const storeTime = () => clock() + store.clockOffset();
  let sweeping = false;

  async function sweep(): Promise<void> {
    if (sweeping) return;
    sweeping = true;
    try {
      // First, since an answer of the store shows its clock.
      await sweepCanaries(store, storeTime);
      const count = await store.sweepUploads(new Date(storeTime() - options.maxAgeMs));
      if (count > 0) options.onSwept(count);
    } catch (error) {
      options.onError(error);
    } finally {
      sweeping = false;
    }
  }

  void sweep();
  const timer = setInterval(sweep, options.intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

async function sweepCanaries(store: ObjectStore, storeTime: () => number): Promise<void> {
  for await (const { key, modifiedAt } of store.list('.canary/')) {
    // Without permission to delete they stay: a few bytes.
    if (modifiedAt.getTime() < storeTime() - CANARY_DEAD_AFTER)
      await store.delete(key).catch(() => undefined);
  }
}

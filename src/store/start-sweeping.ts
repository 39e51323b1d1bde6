import type { ObjectStore } from './object-store.js';

/** Milliseconds. A live canary is written anew at least every hour (`store.canaryInterval`). */
const CANARY_DEAD_AFTER = 86_400_000;

export interface SweepOptions {
  /** Milliseconds; uploads begun (files: last written) longer ago are dead. Beyond any live upload's duration. */
  readonly maxAgeMs: number;
  /** Milliseconds between sweeps. */
  readonly intervalMs: number;
  /** Told after each sweep that found something. */
  readonly onSwept: (count: number) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Gives up uploads, and removes canaries, that dead processes left behind, now and at intervals. Any number of replicas may sweep
 * the same store.
 *
 * @returns ends the sweeping; a sweep under way finishes on its own
 */
export function startSweeping(store: ObjectStore, options: SweepOptions): () => void {
  let sweeping = false;

  async function sweep(): Promise<void> {
    if (sweeping) return;
    sweeping = true;
    try {
      const count = await sweepStale(store, options.maxAgeMs);
      if (count > 0) options.onSwept(count);
      await sweepCanaries(store);
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

/** One sweep: gives up uploads older than `maxAgeMs`; resolves to their number. */
export function sweepStale(store: ObjectStore, maxAgeMs: number): Promise<number> {
  return store.sweepUploads(new Date(Date.now() - maxAgeMs));
}

async function sweepCanaries(store: ObjectStore): Promise<void> {
  const before = Date.now() - CANARY_DEAD_AFTER;
  for await (const { key, modifiedAt } of store.list('.canary/')) {
    // Without the right to delete they stay: a few bytes that nobody reads.
    if (modifiedAt.getTime() < before) await store.delete(key).catch(() => undefined);
  }
}

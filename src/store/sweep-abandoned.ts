import type { ObjectStore } from './object-store.js';

/** Milliseconds. A live process rewrites its canary at least every hour (`store.canaryInterval`). */
const CANARY_DEAD_AFTER = 86_400_000;

/**
 * Aborts the uploads and removes the canaries of dead processes. Any number of replicas may sweep the same store.
 *
 * @param maxAge milliseconds; uploads begun (files: last written) longer ago by the store's clock are aborted. No live upload may last as long
 * @param clock milliseconds since the epoch
 * @returns the number of uploads
 */
export async function sweepAbandoned(
  store: ObjectStore,
  maxAge: number,
  clock: () => number = Date.now,
): Promise<number> {
  // A process whose own clock is ahead would end what is alive.
  const storeTime = () => clock() + store.clockOffset();
  // First, since an answer of the store shows its clock.
  await sweepCanaries(store, storeTime);
  return store.sweepUploads(new Date(storeTime() - maxAge));
}

async function sweepCanaries(store: ObjectStore, storeTime: () => number): Promise<void> {
  for await (const { key, modifiedAt } of store.list('.canary/')) {
    // Without permission to delete they stay: a few bytes.
    if (modifiedAt.getTime() < storeTime() - CANARY_DEAD_AFTER)
      await store.delete(key).catch(() => undefined);
  }
}

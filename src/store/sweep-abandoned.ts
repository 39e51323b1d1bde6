import type { ObjectStore } from './object-store.js';

/** Milliseconds. A live process rewrites its canary at least every hour (`store.canaryInterval`). */
const CANARY_DEAD_AFTER = 86_400_000;

/**
 * Aborts the uploads and removes the canaries of dead processes. Any number of replicas may sweep the same store.
 *
 * @param maxAge milliseconds by the store's clock; older uploads are aborted (files: by the last write). Live uploads must be younger
 * @param clock milliseconds since the epoch
 * @returns the number of uploads
 */
export async function sweepAbandoned(
  store: ObjectStore,
  maxAge: number,
  clock: () => number = Date.now,
): Promise<number> {
  // By its own clock, a process whose clock is ahead would abort live uploads.
  const storeTime = () => clock() + store.clockOffset();
  // First, because an answer of the store shows its clock.
  await sweepCanaries(store, storeTime);
  return store.sweepUploads(new Date(storeTime() - maxAge));
}

async function sweepCanaries(store: ObjectStore, storeTime: () => number): Promise<void> {
  for await (const { key, modifiedAt } of store.list('.canary/')) {
    // Without permission to delete, the few bytes stay.
    if (modifiedAt.getTime() < storeTime() - CANARY_DEAD_AFTER)
      await store.delete(key).catch(() => undefined);
  }
}

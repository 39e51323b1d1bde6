import type { ObjectStore } from '../../store/object-store.js';
import { removeErasedBody } from '../quarantine/quarantined-bodies.js';
import { createErasedJobs, type ErasedJobs } from './erased-jobs.js';

export type Erasures = ReturnType<typeof createErasures>;

/** Prevents callbacks from storing anything of an erased job, without a request per callback. */
export function createErasures(store: ObjectStore, { has }: ErasedJobs = createErasedJobs(store)) {
  return {
    /** Whether the job is erased (`ErasedJobs`). Rejects with `StoreError`. */
    has,
    /** Reads the list of erased jobs in the background, so that the first callback does not wait for it. */
    load: () => void has('').catch(() => undefined),
    /** Quarantines a body. Resolves to false when the job was erased in the meantime; then nothing of the body remains. */
    async keep(
      { jobId, deliveryId }: { readonly jobId: string; readonly deliveryId: string },
      keep: () => Promise<unknown>,
    ): Promise<boolean> {
      try {
        await keep();
      } catch (error) {
        // Part of the body may be stored.
        if (await has(jobId).catch(() => false)) await removeErasedBody(store, deliveryId, jobId);
        throw error;
      }
      if (!(await has(jobId))) return true;
      await removeErasedBody(store, deliveryId, jobId);
      return false;
    },
  };
}

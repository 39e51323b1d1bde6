import type { ObjectStore } from '../../store/object-store.js';
import { removeErasedBody } from '../quarantine/quarantined-bodies.js';
import { createErasedJobs, type ErasedJobs } from './erased-jobs.js';

/** Keeps callbacks from storing anything of an erased job, without a request per callback. */
export interface Erasures {
  /** Whether the job is erased (`ErasedJobs`). Rejects with `StoreError`. */
  has(jobId: string): Promise<boolean>;
  /** Reads the list of erased jobs in the background, so that the first callback does not wait for it. */
  load(): void;
  /** Keeps a body in the quarantine. Resolves to false when the job was erased meanwhile; then nothing of it remains. */
  keep(
    body: { readonly jobId: string; readonly deliveryId: string },
    keep: () => Promise<unknown>,
  ): Promise<boolean>;
}

export function createErasures(store: ObjectStore, { has }: ErasedJobs = createErasedJobs(store)): Erasures {
  return {
    has,
    load: () => void has('').catch(() => undefined),
    async keep({ jobId, deliveryId }, keep) {
      try {
        await keep();
      } catch (error) {
        // Part of the body may be there.
        if (await has(jobId).catch(() => false)) await removeErasedBody(store, deliveryId, jobId);
        throw error;
      }
      if (!(await has(jobId))) return true;
      await removeErasedBody(store, deliveryId, jobId);
      return false;
    },
  };
}

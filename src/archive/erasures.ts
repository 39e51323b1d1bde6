import type { StoredItem } from '../domain/item.js';
import type { ObjectStore } from '../store/object-store.js';
import { createErasedJobs, type ErasedJobs } from './erased-jobs.js';
import { commitUnlessErased } from './erasure.js';
import { removeErasedBody } from './quarantine/quarantined-bodies.js';

/** Keeps callbacks from storing anything of an erased job, without a request per callback. */
export interface Erasures {
  /** Whether the job is erased (`ErasedJobs`). Rejects with `StoreError`. */
  has(jobId: string): false | Promise<boolean>;
  /** Reads the list of erased jobs in the background, so that the first callback does not wait for it. */
  load(): void;
  /** See `commitUnlessErased`. */
  commit(
    job: { readonly jobId: string; readonly keyPrefix: string },
    commit: () => Promise<StoredItem[]>,
  ): Promise<StoredItem[] | null>;
  /** Keeps a body in the quarantine. Resolves to false when the job was erased meanwhile; then nothing of it remains. */
  keep(
    body: { readonly jobId: string; readonly deliveryId: string },
    keep: () => Promise<unknown>,
  ): Promise<boolean>;
}

export function createErasures(store: ObjectStore, { has }: ErasedJobs = createErasedJobs(store)): Erasures {
  const isErased = async (jobId: string): Promise<boolean> => has(jobId);
  return {
    has,
    load: () => void isErased('').catch(() => undefined),
    commit: (job, commit) => commitUnlessErased(store, job, commit, () => has(job.jobId)),
    async keep({ jobId, deliveryId }, keep) {
      try {
        await keep();
      } catch (error) {
        // Part of the body may be there.
        if (await isErased(jobId).catch(() => false)) await removeErasedBody(store, deliveryId, jobId);
        throw error;
      }
      if (!(await has(jobId))) return true;
      await removeErasedBody(store, deliveryId, jobId);
      return false;
    },
  };
}

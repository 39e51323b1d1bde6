import type { JobsClient } from '../speech/batch/jobs-client.js';
import { isPaused } from '../speech/speech-error.js';
import type { JobRecord } from '../speech/wire.js';
import type { ObjectStore } from '../store/object-store.js';
import { findJob } from './find-job.js';
import { recoverJob } from './recover-job.js';
import type { JobOrder, RecoveryParts } from './recovery-parts.js';
import type { RecoveredJob, RunFault } from './recovery-report.js';

/** What became of a job that an earlier run left open. */
export interface Leftover {
  /** Null when it is none of ours any more. */
  readonly told: RecoveredJob | null;
  /** Null when the service did not show it. */
  readonly record: JobRecord | null;
  readonly faults: readonly RunFault[];
}

/**
 * Tries again a job that an earlier run failed on, or found pending, and this run's list does not show any more: the
 * service keeps it for longer than that. While it cannot be looked up it stays as it was told. Rejects as `recoverJob`
 * does, or with `StoreError`.
 */
export async function recoverLeftover(
  parts: RecoveryParts,
  client: JobsClient,
  earlier: RecoveredJob,
  order: JobOrder,
): Promise<Leftover> {
  const { found, faults } = await findJob([client], earlier.jobId, order.signal);
  if (found !== null) return recovered(parts, client, earlier, found.job, order);
  const told = faults.length > 0 ? earlier : await vanished(parts.store, earlier);
  return { told, record: null, faults };
}

async function recovered(
  parts: RecoveryParts,
  client: JobsClient,
  earlier: RecoveredJob,
  record: JobRecord,
  order: JobOrder,
): Promise<Leftover> {
  try {
    return { told: await recoverJob(parts, client, record, order), record, faults: [] };
  } catch (error) {
    if (!isPaused(error)) throw error;
    return { told: earlier, record, faults: [{ region: client.region, reason: error.message }] };
  }
}

/** The service has forgotten it; what came by other ways meanwhile is not missing. */
async function vanished(store: ObjectStore, earlier: RecoveredJob): Promise<RecoveredJob> {
  const items: RecoveredJob['items'][number][] = [];
  for (const { kind, key } of earlier.items) {
    if ((await store.head(key)) === null) items.push({ kind, key, outcome: 'unrecoverable' });
  }
  const reason = 'the job vanished from the service';
  // Of a running job nothing was required yet.
  if (items.length === 0) return { ...earlier, outcome: 'matched', reason, items };
  return { ...earlier, outcome: 'unrecoverable', reason, items };
}

import pLimit from 'p-limit';
import type { ErasureRecord } from '../../../archive/erasure/erasure.js';
import type { AuditInfo } from '../../../ledger/ledger-line.js';
import { StoreError } from '../../../store/object-store.js';
import type { Erased } from '../../answers/jobs.js';
import { type EraseParts, eraseJob } from './erase-job.js';
import { type JobToErase, placesOfJob } from './jobs-to-erase.js';

/** Many at once, because an erasure mostly waits for replicas that do not know of it yet. */
const ERASED_AT_ONCE = 64;

/** Result for one job: erased now, erased before, or not erased. */
export type ErasureLine =
  | Erased
  | ({ readonly jobId: string; readonly complete: true } & ErasureRecord)
  | { readonly jobId: string; readonly error: string };

interface EraseOrder {
  readonly jobs: readonly JobToErase[];
  readonly audit: AuditInfo;
  /** When aborted, no further erasure starts. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Erases these jobs, and calls `onLine` with the result of each. A store failure affects only its job; repeated with a new preview, the
 * erasure continues with what is left.
 */
export async function eraseJobs(
  parts: EraseParts & Parameters<typeof placesOfJob>[0],
  order: EraseOrder,
  onLine: (line: ErasureLine) => void,
): Promise<void> {
  const limit = pLimit(ERASED_AT_ONCE);
  await Promise.all(order.jobs.map((job) => limit(async () => onLine(await eraseOne(parts, job, order)))));
}

async function eraseOne(
  parts: EraseParts & Parameters<typeof placesOfJob>[0],
  { jobId, erasure }: JobToErase,
  { audit, signal }: EraseOrder,
): Promise<ErasureLine> {
  if (erasure !== null) return { jobId, complete: true, ...erasure };
  if (signal?.aborted) return { jobId, error: 'the erasure was stopped' };
  try {
    const { keyPrefixes, sources } = await placesOfJob(parts, jobId);
    return await eraseJob({ ...parts, keyPrefixes }, jobId, audit, sources);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { jobId, error: error.message };
  }
}

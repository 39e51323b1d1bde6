import type { JobsClient } from '../../speech/batch/jobs-client.js';
import type { JobRecord } from '../../speech/wire.js';
import { failureReason, isUnknownJob } from './recovery-errors.js';
import type { RecoveryParts } from './recovery-parts.js';
import type { RunFault } from './report/recovery-report.js';

/** Where a job is known; `faults` are regions that could not be asked. */
export interface JobSearch {
  readonly found: { readonly client: JobsClient; readonly job: JobRecord } | null;
  readonly faults: readonly RunFault[];
}

/** The clients of some regions, each once, or of all that have an address. Throws `SpeechError` (`configuration`). */
export function clientsOf({ speech }: RecoveryParts, regions?: readonly string[]): JobsClient[] {
  return [...new Set(regions ?? speech.regions)].map((region) => speech.jobs(region));
}

/** Asks the regions one after the other: a job is known only in the one that made it. */
export async function findJob(
  clients: readonly JobsClient[],
  jobId: string,
  signal: AbortSignal | undefined,
): Promise<JobSearch> {
  const faults: RunFault[] = [];
  for (const client of clients) {
    try {
      return { found: { client, job: await client.record(jobId, signal) }, faults };
    } catch (error) {
      signal?.throwIfAborted();
      if (!isUnknownJob(error)) faults.push({ region: client.region, reason: failureReason(error) });
    }
  }
  return { found: null, faults };
}

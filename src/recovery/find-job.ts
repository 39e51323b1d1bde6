import type { JobsClient } from '../speech/batch/jobs-client.js';
import { SpeechError } from '../speech/speech-error.js';
import type { JobRecord } from '../speech/wire.js';
import { inWords } from './fetch-missing.js';
import type { RunFault } from './recovery-report.js';

/** Where a job is known; `faults` are regions that could not be asked. */
export interface JobSearch {
  readonly found: { readonly client: JobsClient; readonly job: JobRecord } | null;
  readonly faults: readonly RunFault[];
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
      const unknownHere = error instanceof SpeechError && ['not-found', 'gone'].includes(error.kind);
      if (!unknownHere) faults.push({ region: client.region, reason: inWords(error) });
    }
  }
  return { found: null, faults };
}

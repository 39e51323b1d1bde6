import type { AuditInfo } from '../archive/ledger/ledger-line.js';
import { Problem } from '../domain/problem.js';
import { clientsOf } from '../recovery/find-job.js';
import type { RecoveryParts } from '../recovery/recovery-parts.js';
import type { RecoveredJob } from '../recovery/recovery-report.js';
import { refetch } from '../recovery/refetch.js';
import { SpeechError } from '../speech/speech-error.js';

export interface RefetchJobOptions extends AuditInfo {
  readonly region?: string | undefined;
  readonly source?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Refetches a job as an operator's act. Rejects with `conflict` when the service's API is not configured. */
export async function refetchJob(
  recovery: RecoveryParts,
  jobId: string,
  { actor, region, source, signal }: RefetchJobOptions,
): Promise<RecoveredJob> {
  const regions = region === undefined ? undefined : [region];
  requireService(recovery, regions);
  return refetch(recovery, { jobId, regions, source, actor, signal, origin: 'replay' });
}

/** Throws `Problem` `conflict` when these regions, by default all, cannot be asked. */
export function requireService(recovery: RecoveryParts, regions?: readonly string[]): void {
  if (recovery.speech.regions.length === 0) {
    throw new Problem('conflict', 'No region can be asked: set speech.regions.<region>.batchUrl.');
  }
  try {
    clientsOf(recovery, regions);
  } catch (error) {
    if (!(error instanceof SpeechError) || error.kind !== 'configuration') throw error;
    throw new Problem('conflict', `${error.message}.`, { cause: error });
  }
}

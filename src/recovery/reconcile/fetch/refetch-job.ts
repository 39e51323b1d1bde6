import { Problem } from '../../../domain/problem.js';
import type { SourceScope } from '../../../domain/rights.js';
import type { AuditInfo } from '../../../ledger/ledger-line.js';
import { SpeechError } from '../../../speech/speech-error.js';
import { clientsOf } from '../find-job.js';
import type { RecoveryParts } from '../recovery-parts.js';
import type { RecoveredJob } from '../report/recovery-report.js';
import { refetch, SOURCE_REQUIRED, UNKNOWN_JOB } from './refetch.js';

export interface RefetchJobOptions extends AuditInfo {
  readonly region?: string | undefined;
  readonly source?: string | undefined;
  /** The sources of the client. Default: all. */
  readonly scope?: SourceScope | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Refetches a job as an operator's act. Rejects with `conflict` when the service's API is not configured.
 *
 * All sources may share one account of the service. So a client that may see some of them gets a job only when the job's own
 * notification entries lead to one of these: naming a source is no proof. Any other job is answered like an unknown one.
 */
export async function refetchJob(
  recovery: RecoveryParts,
  jobId: string,
  { actor, region, source, scope = null, signal }: RefetchJobOptions,
): Promise<RecoveredJob> {
  const regions = region === undefined ? undefined : [region];
  requireService(recovery, regions);
  const options = { jobId, regions, actor, signal, origin: 'replay' } as const;
  if (scope === null) return refetch(recovery, { ...options, source });
  const names = source === undefined ? [...scope] : [source].filter((name) => scope.has(name));
  const sources = Object.fromEntries(
    names.flatMap((name) => {
      const settings = recovery.sources[name];
      return settings === undefined ? [] : [[name, settings] as const];
    }),
  );
  const result = await refetch({ ...recovery, sources }, { ...options, selectedBy: 'list' });
  if (result.reason !== SOURCE_REQUIRED) return result;
  return { jobId, region: null, outcome: 'unrecoverable', reason: UNKNOWN_JOB, items: [] };
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

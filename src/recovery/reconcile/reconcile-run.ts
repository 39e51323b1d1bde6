import type { LimitFunction } from 'p-limit';
import type { JobsClient } from '../../speech/batch/jobs-client.js';
import type { JobRecord } from '../../speech/wire.js';
import { unconfiguredSource } from './expectation.js';
import { recordMatch } from './fetch/record-match.js';
import type { LookBack } from './look-back.js';
import { reconcileJob } from './reconcile-job.js';
import type { JobOptions, RecoveryParts } from './recovery-parts.js';
import type { RecoveredJob, ReportBuilder } from './report/recovery-report.js';

export interface ReconcileOptions {
  /** Also list jobs created at or after this. Default: the range of `lookBack`. */
  readonly since?: Date | undefined;
  /** Report what would be fetched, change nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** The jobs whose failures are settled when they are found complete. Default: none. If it rejects, the next run retries. */
  readonly failingJobs?: () => Promise<ReadonlySet<string>>;
  /** Called with the result of every listed job; `record` is null when the service did not show the job. */
  readonly onJob?: (job: RecoveredJob, record: JobRecord | null) => void;
}

/** One run of reconcile. */
export interface Run extends Pick<LookBack, 'since'> {
  readonly parts: RecoveryParts;
  readonly options: ReconcileOptions;
  readonly jobOptions: JobOptions;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly report: ReportBuilder;
  readonly failing: ReadonlySet<string>;
  /** Bounds requests for single records. */
  readonly recordLimit: LimitFunction;
}

/** Reconciles one job, and settles its failures when it is found complete. */
export async function reconcileRecord(run: Run, client: JobsClient, job: JobRecord): Promise<void> {
  const { parts, jobOptions, failing } = run;
  const checkedAt = parts.clock();
  const result = await reconcileJob(parts, client, job, jobOptions);
  if (result === null) return run.report.ignore(unconfiguredSource(job, parts));
  const settles = result.outcome === 'matched' && !result.recorded && failing.has(result.jobId);
  addResult(run, settles ? await recordMatch(parts, result, { ...jobOptions, checkedAt }) : result, job);
}

/** Throws the signal's reason when a failed job may have been interrupted by it: the run is then not complete. */
export function addResult({ report, options }: Run, result: RecoveredJob, record: JobRecord | null): void {
  report.add(result, record);
  options.onJob?.(result, record);
  if (result.outcome === 'failed') options.signal?.throwIfAborted();
}

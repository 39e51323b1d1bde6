import type { LimitFunction } from 'p-limit';
import type { JobRecord } from '../speech/wire.js';
import { recordMatch } from './fetch/record-match.js';
import type { LookBack } from './look-back.js';
import type { JobOptions, RecoveryParts } from './recovery-parts.js';
import type { RecoveredJob, ReportBuilder } from './report/recovery-report.js';

export interface ReconcileOptions {
  /** Jobs created at or after this. Default: as `lookBack` says. */
  readonly since?: Date | undefined;
  /** Default: all regions that have an address. */
  readonly regions?: readonly string[] | undefined;
  /** Only what should have come to this source. */
  readonly source?: string | undefined;
  /** Look back as far as the service keeps results, wherever earlier runs ended. */
  readonly full?: boolean;
  /** Report what would be fetched, change nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal | undefined;
  /**
   * The jobs whose failures end when nothing of them is missing. Default: none. Without an answer none is settled, and the next
   * run tries again.
   */
  readonly failingJobs?: () => Promise<ReadonlySet<string>>;
  /** Called with the result of every listed job; `record` is null when the service did not show the job. */
  readonly onJob?: (job: RecoveredJob, record: JobRecord | null) => void;
}

/** One run of reconcile. */
export interface Run {
  readonly parts: RecoveryParts;
  readonly options: ReconcileOptions;
  readonly jobOptions: JobOptions;
  readonly startedAt: number;
  readonly since: LookBack['since'];
  readonly report: ReportBuilder;
  readonly failing: ReadonlySet<string>;
  /** Bounds requests for single records. */
  readonly asking: LimitFunction;
  /** Jobs that earlier runs left failed, pending or unrecoverable, and that no list has shown yet. */
  readonly open: Map<string, RecoveredJob>;
  /** Regions whose list could not be read to its end. */
  readonly unlisted: Set<string>;
  /** Regions whose whole window is listed. */
  readonly whole: ReadonlySet<string>;
}

/**
 * Settles the failures of a job that was found complete. Of a failed (`rejected`) job nothing was expected, so that this says
 * nothing about a callback that was refused.
 *
 * @param lookedAt when, in milliseconds since the epoch
 */
export async function settleFailures(
  { parts, jobOptions, failing }: Run,
  result: RecoveredJob | null,
  { status }: JobRecord,
  lookedAt: number,
): Promise<RecoveredJob | null> {
  if (result?.outcome !== 'matched' || status === 'rejected' || !failing.has(result.jobId)) return result;
  return recordMatch(parts, result, { ...jobOptions, lookedAt });
}

/** Throws as the signal says when that may be why the job failed: then the run has not seen everything. */
export function addResult(
  { report, options }: Run,
  result: RecoveredJob | null,
  record: JobRecord | null,
): void {
  if (result === null) return report.ignore();
  report.add(result, record);
  options.onJob?.(result, record);
  if (result.outcome === 'failed') options.signal?.throwIfAborted();
}

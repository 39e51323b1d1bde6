import { EMPTY_STORE, isEmptyStore } from '../archive/erasure/empty-store.js';
import { repeat } from '../lib/time/repeat.js';
import type { Logger } from '../observe/logger.js';
import type { RecoveryMetrics } from '../observe/metrics/recovery-metrics.js';
import { retentionDeadline } from '../recovery/reconcile/fetch/retention-deadline.js';
import { reconcile } from '../recovery/reconcile/reconcile.js';
import type { ReconcileOptions } from '../recovery/reconcile/reconcile-run.js';
import type { RecoveryParts } from '../recovery/reconcile/recovery-parts.js';
import type { RecoveredJob, RecoveryReport } from '../recovery/reconcile/report/recovery-report.js';
import type { JobRecord } from '../speech/wire.js';

export interface RegularReconciling {
  readonly parts: RecoveryParts;
  /** Milliseconds from the end of one run to the beginning of the next. */
  readonly interval: number;
  readonly failingJobs?: ReconcileOptions['failingJobs'];
  readonly metrics: RecoveryMetrics;
  readonly log: Logger;
  /** In [0, 1); keeps replicas that started together from running together. Default `Math.random`. */
  readonly random?: () => number;
}

/** The first run begins at a random moment within this, so that a restart does not put recovery off. */
const FIRST_RUN_WITHIN = 60_000;

/** Reconciles in this process until `stop`, which interrupts the current run and waits for its end. */
export function reconcileRegularly(options: RegularReconciling): { stop(): Promise<void> } {
  const { interval, random } = options;
  const missing = createMissingJobs();
  return repeat((signal) => runOnce(options, missing, signal), {
    interval,
    firstWithin: FIRST_RUN_WITHIN,
    random,
  });
}

async function runOnce(
  { parts, failingJobs, metrics, log }: RegularReconciling,
  missing: MissingJobs,
  signal: AbortSignal,
): Promise<void> {
  const started = performance.now();
  if (await isEmptyStore(parts.store).catch(() => false)) log.warn({ event: 'store-empty' }, EMPTY_STORE);
  const finished = (ok: boolean, sawAll: boolean) => {
    metrics.finished({ ok, oldestUnrecovered: missing.oldestAfter(sawAll) });
    return performance.now() - started;
  };
  try {
    const report = await reconcile(parts, {
      signal,
      ...(failingJobs ? { failingJobs } : {}),
      onJob(job, record) {
        metrics.checked(job.outcome, job.region);
        missing.note(job, record);
        logJob(parts, log, job, record);
      },
    });
    logSummary(log, report, finished(isOk(report), report.faults.length === 0));
  } catch (error) {
    finished(false, false);
    log.error({ event: 'reconcile', err: error }, 'reconcile did not run');
  }
}

function isOk({ outcomes, faults }: RecoveryReport): boolean {
  return outcomes.failed === 0 && faults.length === 0;
}

/** The jobs that are missing and may still be fetched. The retention of the oldest one ends first. */
interface MissingJobs {
  note(job: RecoveredJob, record: JobRecord | null): void;
  /**
   * Ends a run. Returns when the oldest missing job was created, in milliseconds since the epoch, or null. A run that
   * did not see everything proves nothing about the jobs it did not reach: they stay missing.
   */
  oldestAfter(sawAll: boolean): number | null;
}

function createMissingJobs(): MissingJobs {
  const createdAt = new Map<string, number>();
  let seen = new Set<string>();
  return {
    note({ jobId, outcome }, record) {
      if (outcome !== 'failed') return void createdAt.delete(jobId);
      seen.add(jobId);
      if (record !== null) createdAt.set(jobId, Date.parse(record.created_at));
    },
    oldestAfter(sawAll) {
      const gone = sawAll ? [...createdAt.keys()].filter((jobId) => !seen.has(jobId)) : [];
      for (const jobId of gone) createdAt.delete(jobId);
      seen = new Set();
      let oldest: number | null = null;
      for (const time of createdAt.values()) oldest = Math.min(oldest ?? time, time);
      return oldest;
    },
  };
}

/** Logs changes and failures. The report holds the rest. */
function logJob(
  parts: RecoveryParts,
  log: Logger,
  { jobId, region, outcome, reason, items }: RecoveredJob,
  record: JobRecord | null,
): void {
  const event = { event: 'recovery', jobId, region, outcome, reason, items: items.length };
  if (outcome === 'recovered' || outcome === 'conflict') log.info(event, outcome);
  if (outcome !== 'failed') return;
  const end = record && retentionDeadline(record.created_at, parts, parts.clock());
  if (end) log.error({ ...event, event: 'retention' }, `the service drops this job at ${end.toISOString()}`);
  else log.warn(event, outcome);
}

function logSummary(log: Logger, report: RecoveryReport, durationMs: number): void {
  const { outcomes, ignored, faults, window } = report;
  const event = {
    event: 'reconcile',
    ...window,
    outcomes,
    ignored,
    faults,
    durationMs: Math.round(durationMs),
  };
  if (isOk(report)) log.info(event, 'reconciled');
  else log.warn(event, 'reconciled, not completely');
}

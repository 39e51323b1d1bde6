import { EMPTY_STORE, isEmptyStore } from '../archive/erasure/empty-store.js';
import { repeat } from '../lib/time/repeat.js';
import type { Logger } from '../observe/logger.js';
import type { RecoveryMetrics } from '../observe/metrics/recovery-metrics.js';
import type { ReconcileRuns } from '../operations/actions/reconcile-runs.js';
import type { ReconcileState } from '../operations/answers/reconcile.js';
import { retentionDeadline } from '../recovery/reconcile/fetch/retention-deadline.js';
import { reconcile } from '../recovery/reconcile/reconcile.js';
import type { ReconcileOptions } from '../recovery/reconcile/reconcile-run.js';
import { failureReason } from '../recovery/reconcile/recovery-errors.js';
import type { RecoveryParts } from '../recovery/reconcile/recovery-parts.js';
import type { RecoveredJob, RecoveryReport } from '../recovery/reconcile/report/recovery-report.js';
import type { JobRecord } from '../speech/wire.js';

/** Schedule of automatic runs. */
interface RunSchedule {
  /** Milliseconds from the end of one run to the beginning of the next. */
  readonly interval: number;
  /** Jitter in [0, 1), so that replicas that started together do not run together. Default `Math.random`. */
  readonly random?: () => number;
}

/** Runs reconcile in this process, one run at a time: on an interval, and for operators. */
export interface Reconciler extends ReconcileRuns {
  /** Starts running on an interval. A run of an operator that is in progress counts as one of these runs. */
  repeat(schedule: RunSchedule): void;
  /** Interrupts the current run and waits for its end. No further run starts. */
  stop(): Promise<void>;
}

/** The first run starts at a random time within this, so that restarts do not postpone recovery. */
const FIRST_RUN_WITHIN = 60_000;

/** @param failingJobs as in `ReconcileOptions` */
export function createReconciler(
  parts: RecoveryParts,
  metrics: RecoveryMetrics,
  log: Logger,
  failingJobs?: ReconcileOptions['failingJobs'],
): Reconciler {
  const stopping = new AbortController();
  let repeating: { stop(): Promise<void> } | null = null;
  let current: { readonly progress: Progress; readonly ended: Promise<void> } | null = null;
  let last: EndedRun | null = null;

  /** @param before must resolve before the run starts */
  function begin(actor: string | null, full: boolean, before: Promise<void>): Promise<void> {
    const progress = { startedAt: new Date().toISOString(), actor, checked: 0, recovered: 0, failed: 0 };
    const run = async () => {
      const run = { progress, full, signal: stopping.signal, failingJobs };
      const result = await runOnce(parts, metrics, log, run);
      last = { startedAt: progress.startedAt, finishedAt: new Date().toISOString(), actor, ...result };
    };
    const ended = before
      .then(run, () => undefined)
      .finally(() => {
        current = null;
      });
    current = { progress, ended };
    return ended;
  }

  return {
    state: () => ({ running: current && { ...current.progress }, last }),
    async start({ actor, full }, record) {
      if (current !== null || stopping.signal.aborted) return false;
      const recorded = Promise.resolve().then(record);
      void begin(actor, full, recorded);
      await recorded;
      return true;
    },
    repeat({ interval, random }) {
      const work = () => current?.ended ?? begin(null, false, Promise.resolve());
      repeating = repeat(work, { interval, firstWithin: FIRST_RUN_WITHIN, random });
    },
    async stop() {
      stopping.abort();
      await Promise.all([repeating?.stop(), current?.ended]);
    },
  };
}

type RunningRun = NonNullable<ReconcileState['running']>;
type Progress = { -readonly [Name in keyof RunningRun]: RunningRun[Name] };
type EndedRun = NonNullable<ReconcileState['last']>;

interface OneRun {
  readonly progress: Progress;
  readonly full: boolean;
  readonly signal: AbortSignal;
  readonly failingJobs: ReconcileOptions['failingJobs'];
}

/** Never rejects. */
async function runOnce(
  parts: RecoveryParts,
  metrics: RecoveryMetrics,
  log: Logger,
  { progress, full, signal, failingJobs }: OneRun,
): Promise<Omit<EndedRun, 'startedAt' | 'finishedAt' | 'actor'>> {
  const started = performance.now();
  if (await isEmptyStore(parts.store).catch(() => false)) log.warn({ event: 'store-empty' }, EMPTY_STORE);
  const finished = (ok: boolean) => {
    metrics.finished(ok);
    return performance.now() - started;
  };
  try {
    const report = await reconcile(parts, {
      signal,
      since: full ? new Date(parts.clock() - parts.retention) : undefined,
      ...(failingJobs ? { failingJobs } : {}),
      onJob(job, record) {
        countJob(progress, job);
        metrics.checked(job.outcome, job.region);
        logJob(parts, log, job, record);
      },
    });
    logSummary(log, report, progress.actor, finished(isOk(report)));
    const { outcomes, recorded, ignored, unconfigured, faults } = report;
    return { outcomes, recorded, ignored, unconfigured, faults };
  } catch (error) {
    finished(false);
    log.error({ event: 'reconcile', err: error }, 'reconcile did not run');
    const fault = { region: null, reason: failureReason(error) };
    return { outcomes: {}, recorded: 0, ignored: 0, unconfigured: {}, faults: [fault] };
  }
}

function countJob(progress: Progress, { outcome }: RecoveredJob): void {
  progress.checked += 1;
  if (outcome === 'recovered' || outcome === 'conflict') progress.recovered += 1;
  if (outcome === 'failed') progress.failed += 1;
}

function isOk({ outcomes, faults }: RecoveryReport): boolean {
  return outcomes.failed === 0 && faults.length === 0;
}

/** Logs recovered jobs, conflicts and failures. The report has all jobs. */
function logJob(
  parts: RecoveryParts,
  log: Logger,
  { jobId, region, outcome, reason, items }: RecoveredJob,
  record: JobRecord | null,
): void {
  const event = { event: 'recovery', jobId, region, outcome, reason, items: items.length };
  if (outcome === 'recovered' || outcome === 'conflict') log.info(event, outcome);
  if (outcome !== 'failed') return;
  const end = record && retentionDeadline(record.created_at, parts.retention, parts.clock());
  if (end) log.error({ ...event, event: 'retention' }, `the service drops this job at ${end.toISOString()}`);
  else log.warn(event, outcome);
}

function logSummary(log: Logger, report: RecoveryReport, actor: string | null, durationMs: number): void {
  const { outcomes, ignored, unconfigured, faults, window } = report;
  const event = {
    event: 'reconcile',
    ...(actor === null ? {} : { actor }),
    ...window,
    outcomes,
    ignored,
    unconfigured,
    faults,
    durationMs: Math.round(durationMs),
  };
  if (isOk(report)) log.info(event, 'reconciled');
  else log.warn(event, 'reconciled, not completely');
}

import { REPORTS_FOLDER, reconcileReportKey } from '../../archive/layout.js';
import { RECOVERY_OUTCOMES, type RecoveryOutcome } from '../../domain/recovery-outcome.js';
import type { LedgerView } from '../../index/ledger-view.js';
import { isJsonObject } from '../../lib/text/parse-json.js';
import { INTERRUPTED } from '../../recovery/reconcile/recovery-errors.js';
import type { RecoveryReport } from '../../recovery/reconcile/report/recovery-report.js';
import type { ObjectStore } from '../../store/object-store.js';
import { readDocument } from '../../store/read-document.js';
import type { ReconcileFigures } from '../answers/health.js';
import { lastReports } from './last-reports.js';

/** The figures of one report. */
interface RunFigures extends Omit<ReconcileFigures, 'isWhole'> {
  /** Ids of missing jobs that have not been settled since. */
  readonly open: readonly string[];
}

const DAYS = 24 * 3_600_000;
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Reads the results of reconcile; null before the first run. An incomplete run can add missing jobs but not remove any; later ledger lines of
 * a job can remove it.
 */
export function createReconcileReportReader(
  store: ObjectStore,
  missedJobs: LedgerView['missedJobs'],
  clock: () => number = Date.now,
): (signal?: AbortSignal) => Promise<ReconcileFigures | null> {
  // Cache: reports never change, and while a fault lasts the same ones are needed repeatedly.
  let read = new Map<string, RunFigures>();

  /** Runs, newest first, back to the last complete one. */
  async function runsOf(keys: readonly string[], signal?: AbortSignal): Promise<Map<string, RunFigures>> {
    const runs = new Map<string, RunFigures>();
    for (const key of keys.toReversed()) {
      signal?.throwIfAborted();
      const run = read.get(key) ?? runOf(await readDocument(store, key, MAX_BYTES));
      if (run === null) continue;
      runs.set(key, run);
      read.set(key, run);
      if (isComplete(run)) break;
    }
    return runs;
  }

  /** Removes missing jobs that were fetched or acknowledged since the run; cached, because settled jobs stay settled. */
  async function withoutSettled(key: string, run: RunFigures): Promise<RunFigures> {
    if (run.open.length === 0) return run;
    const { settled, failing } = await missedJobs({ jobs: run.open, since: Date.parse(run.startedAt) });
    const done = new Set(settled);
    const missing = run.missing - settled.length;
    const open = run.open.filter((job) => !done.has(job));
    const left = { ...run, open, missing, withoutFailure: missing - failing };
    read.set(key, left);
    return left;
  }

  return async (signal) => {
    // Reports accumulate over years; the last ones are nearly always recent.
    const startAfter = reconcileReportKey(new Date(clock() - 2 * DAYS).toISOString());
    const recent = await runsOf(await lastReports(store, REPORTS_FOLDER, { startAfter, signal }), signal);
    read = [...recent.values()].some(isComplete)
      ? recent
      : await runsOf(await lastReports(store, REPORTS_FOLDER, { signal }), signal);
    return summed(await Promise.all([...read].map(([key, run]) => withoutSettled(key, run))));
  };
}

/** @param runs newest first */
function summed(runs: readonly RunFigures[]): ReconcileFigures | null {
  const whole = runs.find(isComplete);
  const [newest] = runs;
  if (newest === undefined) return null;
  const { open: _, ...figures } = whole ?? newest;
  return {
    ...figures,
    isWhole: whole !== undefined,
    ...(whole && {
      missing: Math.max(...runs.map(({ missing }) => missing)),
      withoutFailure: Math.max(...runs.map(({ withoutFailure }) => withoutFailure)),
    }),
    // An interruption, for example by a restart, is no fault once a run is complete; an overdue run is an issue of its own.
    faults:
      (whole === undefined ? newest : runs.find(({ faults }) => !wasOnlyInterrupted(faults)))?.faults ?? [],
  };
}

function wasOnlyInterrupted(faults: readonly string[]): boolean {
  return faults.length > 0 && faults.every((fault) => fault === INTERRUPTED);
}

/** Only a complete run proves that a job is no longer missing. */
function isComplete({ faults }: RunFigures): boolean {
  return faults.length === 0;
}

/** Whether a document of the store is a report; it may be truncated or edited by hand. */
function isReport(document: Record<string, unknown>): boolean {
  const { startedAt, outcomes, jobs, faults } = document;
  const areObjects = (list: unknown) => Array.isArray(list) && list.every(isJsonObject);
  return (
    !Number.isNaN(Date.parse(String(startedAt))) && isJsonObject(outcomes) && [jobs, faults].every(areObjects)
  );
}

/** Null for a document that is not a report of reconcile. */
function runOf(document: Record<string, unknown> | null): RunFigures | null {
  if (document === null || !isReport(document)) return null;
  const { startedAt, finishedAt, outcomes, jobs, ignored, faults } = document as unknown as RecoveryReport;
  const sum = (...names: readonly RecoveryOutcome[]) =>
    names.reduce((total, name) => total + (outcomes[name] ?? 0), 0);
  const missing = sum('unrecoverable', 'failed');
  return {
    startedAt,
    finishedAt,
    outcomes,
    ignored,
    expected: sum(...RECOVERY_OUTCOMES) - sum('expired'),
    received: sum('matched', 'recovered', 'conflict'),
    missing,
    withoutFailure: missing,
    open: jobs.flatMap(({ jobId, outcome }) =>
      outcome === 'unrecoverable' || outcome === 'failed' ? [jobId] : [],
    ),
    faults: faults.map(({ region, reason }) => (region === null ? reason : `${region}: ${reason}`)),
  };
}

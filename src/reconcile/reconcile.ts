import pLimit from 'p-limit';
import type { JobsClient } from '../speech/batch/jobs-client.js';
import { isPaused } from '../speech/speech-error.js';
import { settleAll } from '../time/settle-all.js';
import { clientsOf, findJob } from './find-job.js';
import { lookBack } from './look-back.js';
import { reconcileJob } from './reconcile-job.js';
import { reconcileRegion } from './reconcile-region.js';
import { addResult, type ReconcileOptions, type Run, settleFailures } from './reconcile-run.js';
import { failureReason, INTERRUPTED } from './recovery-errors.js';
import type { JobOptions, RecoveryParts } from './recovery-parts.js';
import { absentJob } from './report/job-result.js';
import { buildReport, type RecoveredJob, type RecoveryReport } from './report/recovery-report.js';
import { NO_REPORTS, readEarlierReports, storeReport } from './report/report-store.js';

/** The connections that an S3 store has for reading. */
const LOOKS_AT_ONCE = 64;

/**
 * Compares what the service finished with what is in the archive, and fetches what is missing: lists the jobs of
 * each region back to the end of the last complete run, and the whole window once a day, reconciles each of them, then those
 * that earlier runs left failed, pending or unrecoverable and the lists do not show, and stores the report. The stored reports are
 * all that the next run knows of earlier ones.
 *
 * A region that cannot be listed, or a job that cannot be fetched, becomes part of the report, and the rest goes on. When
 * `signal` ends the run, the report says so and holds what was done until then. Rejects only with `SpeechError` of kind
 * `configuration`, before anything was requested.
 */
export async function reconcile(
  parts: RecoveryParts,
  options: ReconcileOptions = {},
): Promise<RecoveryReport> {
  const clients = clientsOf(parts, options.regions);
  const startedAt = parts.clock();
  const earlier = await readEarlierReports(parts, startedAt).catch((error: unknown) => ({
    ...NO_REPORTS,
    error,
  }));
  const { since, earliest, ...scope } = lookBack(parts, options, earlier, startedAt);
  const { limited, whole } = scope;
  const { wholeWindow } = earlier;
  const report = buildReport({ startedAt, since: earliest, wholeWindow, ...scope });
  const run: Run = {
    parts,
    options,
    jobOptions: jobOptionsOf(parts, options, earlier.hasOutcome),
    startedAt,
    since,
    report,
    failing: await readFailing(options),
    asking: pLimit(parts.concurrency),
    open: new Map(earlier.open.map((job) => [job.jobId, job])),
    unlisted: new Set(),
    whole: new Set(whole),
  };
  try {
    // Without the earlier reports a run knows neither how far to look back nor which jobs are open.
    if ('error' in earlier) throw earlier.error;
    await settleAll(clients.map((client) => reconcileRegion(run, client)));
    if (!limited) {
      await settleAll([...run.open.values()].map((job) => reconcileOpenJob(run, clients, job)));
    }
  } catch (error) {
    report.fault(null, options.signal?.aborted ? INTERRUPTED : failureReason(error));
  }
  const finished = report.finish(parts.clock());
  return options.dryRun ? finished : storeReport(parts.store, finished);
}

/** A dry run settles nothing. */
async function readFailing({ dryRun, failingJobs }: ReconcileOptions): Promise<ReadonlySet<string>> {
  if (dryRun || failingJobs === undefined) return new Set();
  return failingJobs().catch(() => new Set<string>());
}

function jobOptionsOf(
  { grace, concurrency }: RecoveryParts,
  { source, dryRun, signal }: ReconcileOptions,
  alreadyRecorded: JobOptions['alreadyRecorded'],
): JobOptions {
  return {
    source: source ?? null,
    selectedBy: 'list',
    grace,
    again: false,
    dryRun: dryRun ?? false,
    origin: 'recovery',
    actor: null,
    signal,
    looking: pLimit(LOOKS_AT_ONCE),
    fetching: pLimit(concurrency),
    alreadyRecorded,
  };
}

/** The service keeps a job longer than the lists are looked back. While it cannot be asked, the last result stands. */
async function reconcileOpenJob(
  run: Run,
  clients: readonly JobsClient[],
  earlier: RecoveredJob,
): Promise<void> {
  const { parts, jobOptions } = run;
  jobOptions.signal?.throwIfAborted();
  const client = clients.find(({ region }) => region === earlier.region);
  if (client === undefined) return;
  if (run.unlisted.has(client.region)) return addResult(run, earlier, null);
  if (earlier.outcome !== 'unrecoverable') return run.asking(() => askForOpenJob(run, client, earlier));
  // The service has nothing more to give. The report has it until it leaves the window.
  if (run.whole.has(client.region)) return;
  addResult(run, await jobOptions.looking(() => absentJob(parts.store, earlier, earlier.reason)), null);
}

async function askForOpenJob(run: Run, client: JobsClient, earlier: RecoveredJob): Promise<void> {
  const { parts, jobOptions, report } = run;
  const lookedAt = parts.clock();
  const { found, faults } = await findJob([client], earlier.jobId, jobOptions.signal);
  for (const { region, reason } of faults) report.fault(region, reason);
  if (found === null) {
    return addResult(
      run,
      faults.length > 0 ? earlier : await absentJob(parts.store, earlier, VANISHED),
      null,
    );
  }
  let result: RecoveredJob | null = earlier;
  try {
    result = await reconcileJob(parts, client, found.job, jobOptions);
    result = await settleFailures(run, result, found.job, lookedAt);
  } catch (error) {
    if (!isPaused(error)) throw error;
    report.fault(client.region, error.message);
  }
  addResult(run, result, found.job);
}

const VANISHED = 'the job vanished from the service';

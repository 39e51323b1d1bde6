import pLimit, { type LimitFunction } from 'p-limit';
import { isErased } from '../archive/erasure.js';
import type { JobPage } from '../speech/batch/job-pages.js';
import type { JobsClient } from '../speech/batch/jobs-client.js';
import { isPaused } from '../speech/speech-error.js';
import type { JobRecord } from '../speech/wire.js';
import { expectationOf } from './expectation.js';
import { fetchMissing, notFetched } from './fetch-missing.js';
import { clientsOf, findJob } from './find-job.js';
import { jobResult, untouchedJob, vanishedJob } from './job-result.js';
import { type LookBack, lookBack } from './look-back.js';
import { planJob, requiresArchive } from './plan-job.js';
import { presentKeys } from './present-keys.js';
import { contextPerSource, recordRecovery } from './record-recovery.js';
import { ErasedError, failureReason, INTERRUPTED } from './recovery-errors.js';
import type { JobOptions, RecoveryParts } from './recovery-parts.js';
import {
  buildReport,
  type RecoveredJob,
  type RecoveryReport,
  type ReportBuilder,
} from './recovery-report.js';
import { NO_REPORTS, readEarlierReports, storeReport } from './report-store.js';
import { settleAll } from './settle-all.js';

export interface ReconcileOptions {
  /** Jobs created at or after this. Default: as far back as no earlier run has looked, at least the window. */
  readonly since?: Date | undefined;
  /** Default: all regions that have an address. */
  readonly regions?: readonly string[] | undefined;
  /** Only what should have come to this source. */
  readonly source?: string | undefined;
  /** Report what would be fetched, change nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Called with the result of every job; `record` is null when the service did not show the job. */
  readonly onJob?: (job: RecoveredJob, record: JobRecord | null) => void;
}

interface Run {
  readonly parts: RecoveryParts;
  readonly options: ReconcileOptions;
  readonly jobOptions: JobOptions;
  readonly since: LookBack['since'];
  readonly report: ReportBuilder;
  readonly limit: LimitFunction;
  /** Jobs that earlier runs left failed or pending, and that no list has shown yet. */
  readonly open: Map<string, RecoveredJob>;
  /** Regions whose list could not be read to its end. */
  readonly unlisted: Set<string>;
}

/**
 * Compares what the service finished with what lies in the archive, and fetches what is missing: lists the jobs of
 * each region back as far as no earlier run has looked, reconciles each of them, then those that earlier runs left
 * failed or pending and the lists no longer show, and stores the report. The next run learns from the stored reports how
 * far to look back.
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
  const { since, earliest, limited, complete } = lookBack(parts, options, earlier.lookedUntil, startedAt);
  const report = buildReport({ startedAt, since: earliest, limited, complete });
  const run: Run = {
    parts,
    options,
    jobOptions: jobOptionsOf(parts, options, earlier.hasOutcome),
    since,
    report,
    limit: pLimit(parts.concurrency),
    open: new Map(earlier.open.map((job) => [job.jobId, job])),
    unlisted: new Set(),
  };
  try {
    // Without the earlier reports a run knows neither how far to look back nor which jobs are open.
    if ('error' in earlier) throw earlier.error;
    await settleAll(clients.map((client) => reconcileRegion(run, client)));
    if (!limited) {
      const open = [...run.open.values()];
      await settleAll(open.map((job) => run.limit(() => reconcileOpenJob(run, clients, job))));
    }
  } catch (error) {
    report.fault(null, options.signal?.aborted ? INTERRUPTED : failureReason(error));
  }
  const finished = report.finish(parts.clock());
  return options.dryRun ? finished : storeReport(parts.store, finished);
}

function jobOptionsOf(
  { grace }: RecoveryParts,
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
    alreadyRecorded,
  };
}

async function reconcileRegion(run: Run, client: JobsClient): Promise<void> {
  const { signal } = run.options;
  const options = { since: run.since(client.region), includeDeleted: true, ...(signal ? { signal } : {}) };
  try {
    for await (const page of client.list(options)) {
      reportGaps(run.report, client, page);
      // A page at a time bounds the jobs in memory, however long the list is.
      await settleAll(page.jobs.map((job) => run.limit(() => reconcileListedJob(run, client, job))));
    }
  } catch (error) {
    signal?.throwIfAborted();
    run.unlisted.add(client.region);
    run.report.fault(client.region, failureReason(error));
  }
}

function reportGaps(report: ReportBuilder, { region }: JobsClient, { malformed, gapAt }: JobPage): void {
  if (malformed > 0) report.fault(region, `${malformed} entries of the job list are no job records`);
  if (gapAt !== null) report.fault(region, `the job list may hide jobs created at ${gapAt}`);
}

async function reconcileListedJob(run: Run, client: JobsClient, listed: JobRecord): Promise<void> {
  const { signal } = run.options;
  signal?.throwIfAborted();
  let job: JobRecord;
  try {
    job = await withConfig(client, listed, signal);
  } catch (error) {
    signal?.throwIfAborted();
    return run.report.fault(client.region, failureReason(error));
  }
  addResult(run, await reconcileJob(run.parts, client, job, run.jobOptions), job);
  run.open.delete(job.id);
}

/** A list may leave out the configuration, which names the addresses of a job's callbacks. */
async function withConfig(
  client: JobsClient,
  listed: JobRecord,
  signal: AbortSignal | undefined,
): Promise<JobRecord> {
  const hasConfig = listed.config.type !== 'unknown' || listed.config.notification_config !== undefined;
  return hasConfig ? listed : client.record(listed.id, signal);
}

/** The service keeps a job longer than the lists are looked back. While it cannot be asked, the last result stands. */
async function reconcileOpenJob(
  run: Run,
  clients: readonly JobsClient[],
  earlier: RecoveredJob,
): Promise<void> {
  const { parts, jobOptions, report } = run;
  jobOptions.signal?.throwIfAborted();
  const client = clients.find(({ region }) => region === earlier.region);
  if (client === undefined) return;
  if (run.unlisted.has(client.region)) return addResult(run, earlier, null);
  const { found, faults } = await findJob([client], earlier.jobId, jobOptions.signal);
  for (const { region, reason } of faults) report.fault(region, reason);
  if (found === null) {
    return addResult(run, faults.length > 0 ? earlier : await vanishedJob(parts.store, earlier), null);
  }
  let result: RecoveredJob | null = earlier;
  try {
    result = await reconcileJob(parts, client, found.job, jobOptions);
  } catch (error) {
    if (!isPaused(error)) throw error;
    report.fault(client.region, error.message);
  }
  addResult(run, result, found.job);
}

/** Throws as the signal says when that may be why the job failed: then the run has not seen everything. */
function addResult({ report, options }: Run, result: RecoveredJob | null, record: JobRecord | null): void {
  if (result === null) return report.ignore();
  report.add(result);
  options.onJob?.(result, record);
  if (result.outcome === 'failed') options.signal?.throwIfAborted();
}

/**
 * Reconciles one job: what should be here, what is here, what is missing; fetches that and records it. Null when the
 * job belongs to no source here. Before anything was stored it rejects as the signal says, or with `paused` when the
 * region must not be asked now; every other failure becomes the result.
 */
export async function reconcileJob(
  parts: RecoveryParts,
  client: JobsClient,
  job: JobRecord,
  options: JobOptions,
): Promise<RecoveredJob | null> {
  const { region } = client;
  const { store, sources, publicUrl } = parts;
  const { source, selectedBy, grace, signal } = options;
  const expectation = expectationOf(job, { sources, publicUrl, source, selectedBy });
  if (expectation === null) return null;
  const now = parts.clock();
  try {
    const present = requiresArchive(job, expectation)
      ? await presentKeys(store, expectation.items, options)
      : new Set<string>();
    const plan = planJob({ job, expectation, present, now, grace });
    const isSettled = plan.step === 'matched' || plan.step === 'pending';
    if (!isSettled && (await isErased(store, job.id))) throw new ErasedError();
    if (isSettled || options.dryRun) return untouchedJob(job, region, plan);

    const contextOf = contextPerSource(parts, job, region, options.origin, now);
    const results =
      plan.step === 'fetch'
        ? await fetchMissing(parts, client, plan.missing, contextOf, signal)
        : plan.missing.map((item) => notFetched(item, 'unrecoverable', null));
    const result = jobResult(job, region, results, plan.reason, parts, now);
    return await recordRecovery(parts, { result, results, contextOf, options, startedAt: now });
  } catch (error) {
    if (error instanceof ErasedError) {
      return untouchedJob(job, region, { step: 'matched', missing: [], reason: error.message });
    }
    signal?.throwIfAborted();
    if (isPaused(error)) throw error;
    const failed = expectation.items.map((item) => notFetched(item, 'failed', failureReason(error)));
    return jobResult(job, region, failed, null, parts, now);
  }
}

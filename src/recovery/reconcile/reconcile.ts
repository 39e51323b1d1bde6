import pLimit from 'p-limit';
import { removeEndRecords } from '../../archive/end-record.js';
import { settleAll } from '../../lib/time/settle-all.js';
import { lookBack } from './look-back.js';
import { reconcileRegion } from './reconcile-region.js';
import type { ReconcileOptions, Run } from './reconcile-run.js';
import { failureReason, INTERRUPTED } from './recovery-errors.js';
import type { JobOptions, RecoveryParts } from './recovery-parts.js';
import { buildReport, type RecoveryReport } from './report/recovery-report.js';
import { type EarlierReports, readEarlierReports, storeReport } from './report/report-store.js';

/** Equals the connections of an S3 store for reading. */
const LOOKUPS_AT_ONCE = 64;

const DAY = 86_400_000;

const NO_REPORTS: EarlierReports = { expectations: '', open: new Map(), completeUntil: new Map() };

/**
 * Compares the jobs of the service with the archive, fetches what is missing, and stores a report. It covers, for each region, the jobs
 * created since the last complete run, once a day those of the whole window, and those that earlier runs left failed, pending or
 * unrecoverable. The stored reports are the only memory between runs.
 *
 * A region that cannot be listed, or a job that cannot be fetched, becomes part of the report, and the run continues. When `signal`
 * interrupts the run, the report says so and holds the results so far. Rejects only with `SpeechError` of kind `configuration`, before
 * anything was requested.
 */
export async function reconcile(
  parts: RecoveryParts,
  options: ReconcileOptions = {},
): Promise<RecoveryReport> {
  const { speech } = parts;
  const clients = speech.regions.map((region) => speech.jobs(region));
  const startedAt = parts.clock();
  let unread: unknown = null;
  const { expectations, open, completeUntil } = await readEarlierReports(parts, startedAt).catch((error) => {
    unread = error;
    return NO_REPORTS;
  });
  const { since, earliest } = lookBack(parts, options.since, completeUntil, startedAt);
  const report = buildReport({ startedAt, earliest, expectations, regions: speech.regions });
  const run = {
    parts,
    options,
    startedAt,
    report,
    since,
    jobOptions: jobOptionsOf(parts, options, open),
    failing: await readFailing(options),
    recordLimit: pLimit(parts.concurrency),
  };
  try {
    // Without the earlier reports neither the range to list nor the open jobs are known.
    if (unread !== null) throw unread;
    await settleAll(clients.map((client) => reconcileRegion(run, client)));
    if (!options.dryRun && startedAt - earliest.getTime() >= parts.window) await removeOldEndRecords(run);
  } catch (error) {
    report.fault(null, options.signal?.aborted ? INTERRUPTED : failureReason(error));
  }
  const finished = report.finish(parts.clock());
  return options.dryRun ? finished : storeReport(parts.store, finished);
}

/** Runs once a day, with the listing of the whole window. A bucket that denies deletes does not make a run incomplete. */
async function removeOldEndRecords({ parts, options, startedAt }: Run): Promise<void> {
  const listed = Math.max(parts.retention, parts.window) + DAY;
  await removeEndRecords(parts.store, startedAt - listed, options.signal).catch((error: unknown) => {
    if (options.signal?.aborted) throw error;
  });
}

/** A dry run settles nothing. */
async function readFailing({ dryRun, failingJobs }: ReconcileOptions): Promise<ReadonlySet<string>> {
  if (dryRun || failingJobs === undefined) return new Set();
  return failingJobs().catch(() => new Set<string>());
}

function jobOptionsOf(
  { grace, concurrency }: RecoveryParts,
  { dryRun, signal }: ReconcileOptions,
  openBefore: JobOptions['openBefore'],
): JobOptions {
  return {
    source: null,
    selectedBy: 'list',
    grace,
    again: false,
    dryRun: dryRun ?? false,
    origin: 'recovery',
    actor: null,
    signal,
    lookupLimit: pLimit(LOOKUPS_AT_ONCE),
    fetchLimit: pLimit(concurrency),
    openBefore,
  };
}

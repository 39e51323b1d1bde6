import pLimit from 'p-limit';
import type { JobPage } from '../speech/job-pages.js';
import type { JobsClient } from '../speech/jobs-client.js';
import type { JobRecord } from '../speech/wire.js';
import { INTERRUPTED, inWords } from './fetch-missing.js';
import { recoverJob } from './recover-job.js';
import type { JobOrder, RecoveryParts } from './recovery-parts.js';
import {
  buildReport,
  RECOVERY_OUTCOMES,
  type RecoveredJob,
  type RecoveryReport,
  type ReportBuilder,
} from './recovery-report.js';
import { clientsOf, refetch } from './refetch.js';
import { earlierOutcomes, storeReport } from './report-store.js';

export interface ReconcileOrder {
  /** Jobs created at or after this; default: the configured window. */
  readonly since?: Date | undefined;
  /** Default: all regions that have an address. */
  readonly regions?: readonly string[] | undefined;
  /** Only what should have come to this source. */
  readonly source?: string | undefined;
  /** Only these jobs, looked up instead of listed. */
  readonly jobs?: readonly string[] | undefined;
  /** Look and tell, change nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Told of every job as it is settled; `record` is null when the job was named and not listed. */
  readonly onJob?: (told: RecoveredJob, record: JobRecord | null) => void;
}

/**
 * Walks the job lists of the regions back over the window, asks of every job what should be here, and
 * fetches what is not. A region that cannot be listed, or a job that cannot be fetched, becomes part of the
 * report; the rest goes on. When `signal` ends it, the report says so and holds what was done until then.
 *
 * Rejects only with `SpeechError` of kind `configuration`, before anything was asked.
 */
export async function reconcile(parts: RecoveryParts, order: ReconcileOrder = {}): Promise<RecoveryReport> {
  const clients = clientsOf(parts, order.regions);
  const now = parts.clock ?? Date.now;
  const startedAt = new Date(now());
  const since = order.since ?? new Date(startedAt.getTime() - parts.window);
  const keep = order.jobs ? RECOVERY_OUTCOMES : RECOVERY_OUTCOMES.filter((outcome) => outcome !== 'matched');
  const limited = isLimited(parts, order, startedAt);
  const report = buildReport({ startedAt, since, limited, keep });
  try {
    await (order.jobs ? runNamed(parts, order, report) : runListed(parts, clients, order, since, report));
  } catch (error) {
    report.fault(null, order.signal?.aborted ? INTERRUPTED : inWords(error));
  }
  const finished = report.finish(new Date(now()));
  return order.dryRun ? finished : await keptReport(parts, finished);
}

/** Whether the order leaves out anything that a run without options looks at. */
function isLimited(
  parts: RecoveryParts,
  { jobs, source, regions, since }: ReconcileOrder,
  at: Date,
): boolean {
  if (jobs !== undefined || source !== undefined) return true;
  if (regions && parts.speech.regions.some((region) => !regions.includes(region))) return true;
  return since !== undefined && since.getTime() > at.getTime() - parts.window;
}

async function runListed(
  parts: RecoveryParts,
  clients: readonly JobsClient[],
  order: ReconcileOrder,
  since: Date,
  report: ReportBuilder,
): Promise<void> {
  const limit = pLimit(parts.concurrency);
  const alreadyRecorded = order.dryRun ? () => false : await earlierOutcomes(parts.store, since);
  const jobOrder: JobOrder = {
    source: order.source ?? null,
    insist: false,
    grace: parts.grace,
    again: false,
    dryRun: order.dryRun ?? false,
    origin: 'recovery',
    actor: null,
    signal: order.signal,
    alreadyRecorded,
  };
  const one = async (client: JobsClient, listed: JobRecord) => {
    order.signal?.throwIfAborted();
    const job = await whole(client, listed, order.signal).catch((error: unknown) => {
      order.signal?.throwIfAborted();
      report.fault(client.region, inWords(error));
      return null;
    });
    if (job === null) return;
    const told = await recoverJob(parts, client, job, jobOrder);
    if (told === null) return report.ignore();
    settle(told, job, order, report);
  };
  await settleAll(
    clients.map(async (client) => {
      try {
        const { signal } = order;
        for await (const page of client.list({
          since,
          includeDeleted: true,
          ...(signal ? { signal } : {}),
        })) {
          noteGaps(client, page, report);
          // A page at a time: what waits is bounded, however long the list is.
          await settleAll(page.jobs.map((job) => limit(() => one(client, job))));
        }
      } catch (error) {
        order.signal?.throwIfAborted();
        report.fault(client.region, inWords(error));
      }
    }),
  );
}

/** Throws as the signal says when that may be why the job failed: then the run has not seen everything. */
function settle(
  told: RecoveredJob,
  record: JobRecord | null,
  { onJob, signal }: ReconcileOrder,
  report: ReportBuilder,
): void {
  report.add(told);
  onJob?.(told, record);
  if (told.outcome === 'failed') signal?.throwIfAborted();
}

/** A list may leave the configuration out; without it nobody knows where a job's callbacks went. */
async function whole(
  client: JobsClient,
  listed: JobRecord,
  signal: AbortSignal | undefined,
): Promise<JobRecord> {
  const isWhole = listed.config.type !== 'unknown' || listed.config.notification_config !== undefined;
  return isWhole ? listed : client.record(listed.id, signal);
}

/** Waits for all, then throws the first failure: nothing is left running behind the caller's back. */
async function settleAll(work: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === 'rejected') throw result.reason;
  }
}

function noteGaps({ region }: JobsClient, { malformed, gapAt }: JobPage, report: ReportBuilder): void {
  if (malformed > 0) report.fault(region, `${malformed} entries of the job list are no job records`);
  if (gapAt !== null) report.fault(region, `the job list may hide jobs created at ${gapAt}`);
}

async function runNamed(parts: RecoveryParts, order: ReconcileOrder, report: ReportBuilder): Promise<void> {
  const limit = pLimit(parts.concurrency);
  const one = async (jobId: string) => {
    order.signal?.throwIfAborted();
    const { source, dryRun, signal } = order;
    const told = await refetch(parts, {
      jobId,
      source,
      dryRun: dryRun ?? false,
      signal,
      regions: order.regions,
    });
    settle(told, null, order, report);
  };
  await settleAll([...new Set(order.jobs)].map((jobId) => limit(() => one(jobId))));
}

/** The report is worth telling also when the store does not take it. */
async function keptReport({ store }: RecoveryParts, report: RecoveryReport): Promise<RecoveryReport> {
  try {
    await storeReport(store, report);
    return report;
  } catch (error) {
    const reason = `the report was not stored: ${inWords(error)}`;
    return { ...report, faults: [...report.faults, { region: null, reason }] };
  }
}

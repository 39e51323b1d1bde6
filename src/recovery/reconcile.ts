import pLimit, { type LimitFunction } from 'p-limit';
import type { JobPage } from '../speech/job-pages.js';
import type { JobsClient } from '../speech/jobs-client.js';
import type { JobRecord } from '../speech/wire.js';
import { INTERRUPTED, inWords } from './fetch-missing.js';
import { recoverLeftover } from './leftover.js';
import { recoverJob } from './recover-job.js';
import type { JobOrder, RecoveryParts } from './recovery-parts.js';
import {
  buildReport,
  RECOVERY_OUTCOMES,
  type RecoveredJob,
  type RecoveryReport,
  type ReportBuilder,
  type ReportScope,
} from './recovery-report.js';
import { clientsOf, refetch } from './refetch.js';
import { earlierReports, storeReport } from './report-store.js';

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
 * fetches what is not. Unless it is limited it also goes on with older jobs that earlier runs failed on, as
 * long as the service has them. A region that cannot be listed, or a job that cannot be fetched, becomes part of the
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
  const scope = { startedAt, since, limited: isLimited(parts, order, startedAt), keep };
  const report = buildReport(scope);
  try {
    await (order.jobs ? runNamed(parts, order, report) : runListed(parts, clients, order, scope, report));
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

/** What a run over the job lists works with. */
interface Run {
  readonly parts: RecoveryParts;
  readonly clients: readonly JobsClient[];
  readonly order: ReconcileOrder;
  readonly jobOrder: JobOrder;
  readonly report: ReportBuilder;
  readonly limit: LimitFunction;
}

async function runListed(
  parts: RecoveryParts,
  clients: readonly JobsClient[],
  order: ReconcileOrder,
  { since, startedAt, limited }: ReportScope,
  report: ReportBuilder,
): Promise<void> {
  const kept = new Date(Math.min(since.getTime(), startedAt.getTime() - parts.retention));
  const earlier = await earlierReports(parts.store, kept);
  const jobOrder: JobOrder = {
    source: order.source ?? null,
    insist: false,
    grace: parts.grace,
    again: false,
    dryRun: order.dryRun ?? false,
    origin: 'recovery',
    actor: null,
    signal: order.signal,
    alreadyRecorded: earlier.told,
  };
  const run = { parts, clients, order, jobOrder, report, limit: pLimit(parts.concurrency) };
  const { settled, unlisted } = await walkLists(run, since);
  if (limited) return;
  const leftovers = earlier.failed.filter(({ jobId }) => !settled.has(jobId));
  await settleAll(leftovers.map((told) => run.limit(() => tryAgain(run, told, unlisted))));
}

/** Which jobs it came across, and which regions could not be listed to the end. */
interface Walk {
  readonly settled: ReadonlySet<string>;
  readonly unlisted: ReadonlySet<string>;
}

async function walkLists(run: Run, since: Date): Promise<Walk> {
  const { clients, order, report, limit } = run;
  const settled = new Set<string>();
  const unlisted = new Set<string>();
  const one = async (client: JobsClient, listed: JobRecord) => {
    if (await tryListed(run, client, listed)) settled.add(listed.id);
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
        unlisted.add(client.region);
        report.fault(client.region, inWords(error));
      }
    }),
  );
  return { settled, unlisted };
}

/** Resolves to false when the job could not be looked at. */
async function tryListed(run: Run, client: JobsClient, listed: JobRecord): Promise<boolean> {
  const { parts, order, jobOrder, report } = run;
  order.signal?.throwIfAborted();
  const job = await whole(client, listed, order.signal).catch((error: unknown) => {
    order.signal?.throwIfAborted();
    report.fault(client.region, inWords(error));
    return null;
  });
  if (job === null) return false;
  const told = await recoverJob(parts, client, job, jobOrder);
  if (told === null) report.ignore();
  else settle(told, job, order, report);
  return true;
}

async function tryAgain(run: Run, told: RecoveredJob, unlisted: ReadonlySet<string>): Promise<void> {
  const { parts, clients, order, jobOrder, report } = run;
  order.signal?.throwIfAborted();
  const client = clients.find(({ region }) => region === told.region);
  if (client === undefined) return;
  // A region in trouble is asked no more; what is known of its jobs stays known.
  if (unlisted.has(client.region)) return settle(told, null, order, report);
  const leftover = await recoverLeftover(parts, client, told, jobOrder);
  for (const { region, reason } of leftover.faults) report.fault(region, reason);
  if (leftover.told === null) report.ignore();
  else settle(leftover.told, leftover.record, order, report);
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

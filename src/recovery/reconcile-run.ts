import type { LimitFunction } from 'p-limit';
import type { JobPage } from '../speech/batch/job-pages.js';
import type { JobsClient } from '../speech/batch/jobs-client.js';
import type { JobRecord } from '../speech/wire.js';
import { inWords } from './fetch-missing.js';
import { recoverLeftover } from './leftover.js';
import type { LookBack } from './look-back.js';
import type { ReconcileOrder } from './reconcile-order.js';
import { recoverJob } from './recover-job.js';
import type { JobOrder, RecoveryParts } from './recovery-parts.js';
import type { RecoveredJob, ReportBuilder } from './recovery-report.js';

/** What a run works with. */
export interface Run {
  readonly parts: RecoveryParts;
  readonly clients: readonly JobsClient[];
  readonly order: ReconcileOrder;
  readonly jobOrder: JobOrder;
  readonly report: ReportBuilder;
  readonly limit: LimitFunction;
}

/**
 * Lists each region back to its time and settles every job. Gives the regions that could not be listed to the end.
 *
 * @param onSettled told of every job that was looked at
 */
export async function walkLists(
  run: Run,
  since: LookBack['since'],
  onSettled: (jobId: string) => void,
): Promise<ReadonlySet<string>> {
  const { clients, order, report, limit } = run;
  const unlisted = new Set<string>();
  const one = async (client: JobsClient, listed: JobRecord) => {
    if (await tryListed(run, client, listed)) onSettled(listed.id);
  };
  await settleAll(
    clients.map(async (client) => {
      try {
        const { signal } = order;
        for await (const page of client.list({
          since: since(client.region),
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
  return unlisted;
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

/** Goes on with what earlier runs left open and the lists did not show. */
export async function goOnWith(
  run: Run,
  leftovers: Iterable<RecoveredJob>,
  unlisted: ReadonlySet<string>,
): Promise<void> {
  const work = Array.from(leftovers, (told) => run.limit(() => tryAgain(run, told, unlisted)));
  await settleAll(work);
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
export function settle(
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
export async function settleAll(work: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === 'rejected') throw result.reason;
  }
}

function noteGaps({ region }: JobsClient, { malformed, gapAt }: JobPage, report: ReportBuilder): void {
  if (malformed > 0) report.fault(region, `${malformed} entries of the job list are no job records`);
  if (gapAt !== null) report.fault(region, `the job list may hide jobs created at ${gapAt}`);
}

import { settleAll } from '../../lib/time/settle-all.js';
import type { JobPage } from '../../speech/batch/job-pages.js';
import type { JobsClient } from '../../speech/batch/jobs-client.js';
import type { JobRecord } from '../../speech/wire.js';
import { addResult, type Run, reconcileRecord } from './reconcile-run.js';
import { failureReason, isUnknownJob, VANISHED } from './recovery-errors.js';
import { vanishedJobResult } from './report/job-result.js';
import type { RecoveredJob } from './report/recovery-report.js';

/** Bounds the jobs in memory, however long the list is. The next page is requested while earlier ones are checked. */
const PAGES_IN_FLIGHT = 4;

/**
 * Reconciles the jobs of one region: those that it lists within the run's time range, then open jobs of earlier runs that the list does
 * not show, even if the list fails. If the region cannot be asked, the earlier results of open jobs stand.
 */
export async function reconcileRegion(run: Run, client: JobsClient): Promise<void> {
  const { report, options, jobOptions } = run;
  const { region } = client;
  const open = new Map([...jobOptions.openBefore].filter(([, job]) => job.region === region));
  const ask = (job: RecoveredJob) => reconcileOpenJob(run, client, open, job);
  let isListed = false;
  try {
    await reconcileList(run, client, open);
    isListed = true;
    await settleAll([...open.values()].map(ask));
  } catch (error) {
    options.signal?.throwIfAborted();
    report.fault(region, failureReason(error));
    const asked = isListed ? [] : [...open.values()].filter(({ outcome }) => outcome !== 'unrecoverable');
    // Stops at the first failure: a region that does not answer is asked for one job only.
    for (const job of asked) if (!(await succeeds(ask(job), options.signal))) break;
  }
  for (const job of open.values()) addResult(run, job, null);
}

async function succeeds(work: Promise<void>, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await work;
    return true;
  } catch {
    signal?.throwIfAborted();
    return false;
  }
}

/** Open jobs that no list has shown yet, by id. */
type OpenJobs = Map<string, RecoveredJob>;

async function reconcileList(run: Run, client: JobsClient, open: OpenJobs): Promise<void> {
  const { signal } = run.options;
  const list = client.list({
    since: run.since(client.region),
    includeDeleted: true,
    ...(signal ? { signal } : {}),
  });
  const inFlight: Promise<unknown>[] = [];
  try {
    for await (const page of list) {
      reportGaps(run, client, page);
      const showsEntries = page.jobs.some(({ config }) => config.notification_config !== undefined);
      const looked = settleAll(
        page.jobs.map((job) => reconcileListedJob(run, client, open, { job, showsEntries })),
      );
      // A rejection is thrown when it is awaited below. Until then it must not count as unhandled.
      looked.catch(() => undefined);
      inFlight.push(looked);
      if (inFlight.length === PAGES_IN_FLIGHT) await inFlight.shift();
    }
    for (const looked of inFlight) await looked;
  } finally {
    await Promise.allSettled(inFlight);
  }
}

/** A region with a fault is not complete: the next run lists the same time again. */
function reportGaps({ report }: Run, { region }: JobsClient, page: JobPage): void {
  const { malformed, gapAt, disorder } = page;
  if (malformed > 0) report.fault(region, `${malformed} entries of the job list are no job records`);
  if (gapAt !== null)
    report.fault(
      region,
      `a whole page of the job list was created at ${gapAt}, and the list cannot be read within a millisecond: further jobs of that time may be missing here; ${BY_ID}`,
    );
  if (disorder !== null)
    report.fault(
      region,
      `the job list is not newest first (jobs are out of order by up to ${inSeconds(disorder)}), so that some of it cannot be reached: further jobs may be missing here; ${BY_ID}`,
    );
}

const BY_ID =
  'compare with the jobs that you submitted, and fetch those by their ids: transcript-receiver refetch <job>';

function inSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toLocaleString('en', { maximumFractionDigits: 3, useGrouping: false })} s`;
}

async function reconcileListedJob(
  run: Run,
  client: JobsClient,
  open: OpenJobs,
  listed: ListedJob,
): Promise<void> {
  const { signal } = run.options;
  signal?.throwIfAborted();
  let job: JobRecord;
  try {
    job = await withEntries(run, client, listed);
  } catch (error) {
    signal?.throwIfAborted();
    return run.report.fault(client.region, failureReason(error));
  }
  await reconcileRecord(run, client, job);
  open.delete(job.id);
}

interface ListedJob {
  readonly job: JobRecord;
  /** A job of the same page has notification entries. */
  readonly showsEntries: boolean;
}

/**
 * The job with its notification entries, which name the addresses of its callbacks. A list may omit them, because they hold secrets, or
 * the whole configuration; then the record is requested, because a job without entries looks the same in such a list.
 */
async function withEntries(
  run: Run,
  client: JobsClient,
  { job, showsEntries }: ListedJob,
): Promise<JobRecord> {
  const { type, notification_config } = job.config;
  if (notification_config !== undefined || (showsEntries && type !== 'unknown')) return job;
  return run.recordLimit(() => client.record(job.id, run.options.signal));
}

/** Reconciles an open job that is older than the listed range. Rejects when the service does not answer. */
async function reconcileOpenJob(
  run: Run,
  client: JobsClient,
  open: OpenJobs,
  earlier: RecoveredJob,
): Promise<void> {
  const { parts, options, jobOptions } = run;
  options.signal?.throwIfAborted();
  if (earlier.outcome !== 'unrecoverable') {
    await run.recordLimit(() => askForOpenJob(run, client, earlier));
  } else if (run.since(client.region).getTime() > run.startedAt - parts.window) {
    // The service does not have it any more. It stays in the report until it leaves the window.
    addResult(
      run,
      await jobOptions.lookupLimit(() => vanishedJobResult(parts.store, earlier, earlier.reason)),
      null,
    );
  }
  open.delete(earlier.jobId);
}

async function askForOpenJob(run: Run, client: JobsClient, earlier: RecoveredJob): Promise<void> {
  let record: JobRecord;
  try {
    record = await client.record(earlier.jobId, run.options.signal);
  } catch (error) {
    if (!isUnknownJob(error)) throw error;
    return addResult(run, await vanishedJobResult(run.parts.store, earlier, VANISHED), null);
  }
  await reconcileRecord(run, client, record);
}

import type { JobPage } from '../speech/batch/job-pages.js';
import type { JobsClient } from '../speech/batch/jobs-client.js';
import type { JobRecord } from '../speech/wire.js';
import { settleAll } from '../time/settle-all.js';
import { reconcileJob } from './reconcile-job.js';
import { addResult, type Run, settleFailures } from './reconcile-run.js';
import { failureReason } from './recovery-errors.js';

/** Bounds the jobs in memory, however long the list is. The next page is requested while earlier ones are looked at. */
const PAGES_IN_FLIGHT = 4;

/** Lists the jobs of one region as far back as the run looks, and reconciles each. */
export async function reconcileRegion(run: Run, client: JobsClient): Promise<void> {
  const { report, options } = run;
  try {
    await reconcileList(run, client);
  } catch (error) {
    options.signal?.throwIfAborted();
    run.unlisted.add(client.region);
    report.fault(client.region, failureReason(error));
  }
}

async function reconcileList(run: Run, client: JobsClient): Promise<void> {
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
      const looked = settleAll(page.jobs.map((job) => reconcileListedJob(run, client, job, showsEntries)));
      // A rejection is thrown when its turn comes. Until then it must not count as unhandled.
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

/** @param showsEntries a job of the same page has notification entries */
async function reconcileListedJob(
  run: Run,
  client: JobsClient,
  listed: JobRecord,
  showsEntries: boolean,
): Promise<void> {
  const { signal } = run.options;
  const lookedAt = run.parts.clock();
  signal?.throwIfAborted();
  let job: JobRecord;
  try {
    job = await withEntries(run, client, listed, showsEntries);
  } catch (error) {
    signal?.throwIfAborted();
    return run.report.fault(client.region, failureReason(error));
  }
  const found = await reconcileJob(run.parts, client, job, run.jobOptions);
  addResult(run, await settleFailures(run, found, job, lookedAt), job);
  run.open.delete(job.id);
}

/**
 * Notification entries name the addresses of a job's callbacks. A list may leave them out, because they hold secrets, or the whole
 * configuration; a job without entries looks the same there.
 */
async function withEntries(
  run: Run,
  client: JobsClient,
  listed: JobRecord,
  showsEntries: boolean,
): Promise<JobRecord> {
  const { type, notification_config } = listed.config;
  if (notification_config !== undefined || (showsEntries && type !== 'unknown')) return listed;
  return run.asking(() => client.record(listed.id, run.options.signal));
}

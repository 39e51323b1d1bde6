import type { JobPage } from '../speech/batch/job-pages.js';
import type { JobsClient } from '../speech/batch/jobs-client.js';
import type { JobRecord } from '../speech/wire.js';
import { settleAll } from '../time/settle-all.js';
import { CLOCK_TOLERANCE } from './clock-tolerance.js';
import { untouchedJob } from './job-result.js';
import { reconcileJob } from './reconcile-job.js';
import { addResult, type Run, settleFailures } from './reconcile-run.js';
import { failureReason } from './recovery-errors.js';
import type { RecoveredJob } from './recovery-report.js';
import { type ListedState, RegionProgress } from './settled/region-progress.js';
import { openSettledStore, type SettledStore, settledScope } from './settled/settled-store.js';
import type { TimeRange } from './settled/time-ranges.js';

/** Bounds the jobs in memory, however long the list is. The next page is requested while earlier ones are looked at. */
const PAGES_IN_FLIGHT = 4;

/** Reconciles the jobs of one region that earlier runs did not settle, and saves which are settled now. */
export async function reconcileRegion(run: Run, client: JobsClient): Promise<void> {
  const { signal, source, dryRun } = run.options;
  const { parts, report } = run;
  try {
    const scope = settledScope(parts, source ?? null);
    const settled = openSettledStore(parts.store, client.region, scope);
    const progress = await openProgress(run, client, settled);
    report.addSettled(progress.plan.skipped);
    try {
      for (const range of progress.plan.ranges) await reconcileRange(run, client, progress, range);
    } finally {
      if (!dryRun) await saveProgress(run, client, progress);
    }
  } catch (error) {
    signal?.throwIfAborted();
    run.unlisted.add(client.region);
    report.fault(client.region, failureReason(error));
  }
}

async function openProgress(run: Run, client: JobsClient, settled: SettledStore): Promise<RegionProgress> {
  const { options, startedAt } = run;
  const since = run.since(client.region).getTime();
  const full = options.full ?? false;
  if (full && !options.dryRun) await settled.forget({ from: since, to: startedAt + CLOCK_TOLERANCE });
  return RegionProgress.open({ settled, since, startedAt, tolerance: CLOCK_TOLERANCE, full });
}

async function saveProgress({ report }: Run, { region }: JobsClient, progress: RegionProgress) {
  await progress.finish().catch((error: unknown) => {
    report.fault(region, `the settled jobs were not saved: ${failureReason(error)}`);
  });
}

async function reconcileRange(
  run: Run,
  client: JobsClient,
  progress: RegionProgress,
  range: TimeRange,
): Promise<void> {
  const { signal } = run.options;
  const list = client.list({
    since: new Date(range.from),
    ...(range.to === Number.POSITIVE_INFINITY ? {} : { before: new Date(range.to + 1) }),
    includeDeleted: true,
    ...(signal ? { signal } : {}),
  });
  const inFlight: Promise<() => Promise<void>>[] = [];
  progress.begin(range);
  try {
    for await (const page of list) {
      reportGaps(run, client, page);
      const settled = await progress.settledOf(page.jobs);
      const looked = reconcilePage(run, client, page, settled, progress);
      // A rejection is thrown when its turn comes. Until then it must not count as unhandled.
      looked.catch(() => undefined);
      inFlight.push(looked);
      if (inFlight.length === PAGES_IN_FLIGHT) await (await inFlight.shift())?.();
    }
    for (const looked of inFlight) await (await looked)();
    progress.end(range);
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

/** Resolves to what remains to be done when the pages before it are done, too. */
async function reconcilePage(
  run: Run,
  client: JobsClient,
  page: JobPage,
  settled: ReadonlySet<string>,
  progress: RegionProgress,
): Promise<() => Promise<void>> {
  const states = new Map<string, ListedState>();
  const reconcileOne = async (job: JobRecord) => {
    const state = await reconcileListedJob(run, client, job, settled.has(job.id));
    states.set(job.id, state);
    if (state === 'matched' && !settled.has(job.id)) progress.settle(job);
  };
  await settleAll(page.jobs.map(reconcileOne));
  return () => progress.listed(page, ({ id }) => states.get(id) ?? 'open');
}

async function reconcileListedJob(
  run: Run,
  client: JobsClient,
  listed: JobRecord,
  isSettled: boolean,
): Promise<ListedState> {
  const { signal } = run.options;
  const lookedAt = run.parts.clock();
  signal?.throwIfAborted();
  let job: JobRecord;
  try {
    job = isSettled ? listed : await withConfig(run, client, listed);
  } catch (error) {
    signal?.throwIfAborted();
    run.report.fault(client.region, failureReason(error));
    return 'open';
  }
  const found = isSettled
    ? untouchedJob(job, client.region, { step: 'matched', missing: [], reason: null })
    : await reconcileJob(run.parts, client, job, run.jobOptions);
  const result = await settleFailures(run, found, job, lookedAt);
  addResult(run, result, job);
  run.open.delete(job.id);
  return stateOf(result);
}

/**
 * No later look changes these. A failed or pending job may still come, and an unrecoverable one may be imported; they
 * are looked at by every run, which also keeps them in its report.
 */
function stateOf(result: RecoveredJob | null): ListedState {
  if (result === null) return 'ignored';
  return ['matched', 'ended', 'recovered', 'conflict'].includes(result.outcome) ? 'matched' : 'open';
}

/** A list may leave out the configuration, which names the addresses of a job's callbacks. */
async function withConfig(run: Run, client: JobsClient, listed: JobRecord): Promise<JobRecord> {
  const hasConfig = listed.config.type !== 'unknown' || listed.config.notification_config !== undefined;
  return hasConfig ? listed : run.asking(() => client.record(listed.id, run.options.signal));
}

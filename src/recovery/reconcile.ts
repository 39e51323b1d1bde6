import pLimit from 'p-limit';
import { INTERRUPTED, inWords } from './fetch-missing.js';
import { lookBack } from './look-back.js';
import type { ReconcileOrder } from './reconcile-order.js';
import { goOnWith, type Run, settle, settleAll, walkLists } from './reconcile-run.js';
import type { JobOrder, RecoveryParts } from './recovery-parts.js';
import { buildReport, RECOVERY_OUTCOMES, type RecoveryReport } from './recovery-report.js';
import { clientsOf, refetch } from './refetch.js';
import { type EarlierReports, earlierReports, NO_REPORTS, storeReport } from './report-store.js';

/**
 * Walks the job lists of the regions back as far as no earlier run has looked, at least over the window; asks of
 * every job what should be here, and fetches what is not. Unless it is limited it also goes on with older jobs that
 * earlier runs failed on or found pending, as long as the service has them. A region that cannot be listed, or a job
 * that cannot be fetched, becomes part of the report; the rest goes on. When `signal` ends it, the report says so and
 * holds what was done until then.
 *
 * Rejects only with `SpeechError` of kind `configuration`, before anything was asked.
 */
export async function reconcile(parts: RecoveryParts, order: ReconcileOrder = {}): Promise<RecoveryReport> {
  const clients = clientsOf(parts, order.regions);
  const now = parts.clock ?? Date.now;
  const startedAt = new Date(now());
  const { earlier, trouble } = await recall(parts, order, startedAt);
  const reach = lookBack(parts, order, earlier.lookedUntil, startedAt.getTime());
  const keep = order.jobs ? RECOVERY_OUTCOMES : RECOVERY_OUTCOMES.filter((outcome) => outcome !== 'matched');
  const { earliest: since, limited, complete } = reach;
  const report = buildReport({ startedAt, since, limited, complete, keep });
  const jobOrder = jobOrderOf(parts, order, earlier.told);
  const run: Run = { parts, clients, order, jobOrder, report, limit: pLimit(parts.concurrency) };
  try {
    if (trouble !== null) throw trouble;
    if (order.jobs) await recoverNamed(run, order.jobs);
    else {
      const open = new Map(earlier.open.map((told) => [told.jobId, told]));
      const unlisted = await walkLists(run, reach.since, (jobId) => open.delete(jobId));
      if (!limited) await goOnWith(run, open.values(), unlisted);
    }
  } catch (error) {
    report.fault(null, order.signal?.aborted ? INTERRUPTED : inWords(error));
  }
  const finished = report.finish(new Date(now()));
  return order.dryRun ? finished : await keptReport(parts, finished);
}

/** What earlier runs left. Without it no run begins: it would not know how far to look, nor what is open. */
async function recall(
  { store, retention, speech }: RecoveryParts,
  { jobs }: ReconcileOrder,
  startedAt: Date,
): Promise<{ readonly earlier: EarlierReports; readonly trouble: Error | null }> {
  if (jobs) return { earlier: NO_REPORTS, trouble: null };
  const kept = new Date(startedAt.getTime() - retention);
  try {
    return { earlier: await earlierReports(store, kept, speech.regions), trouble: null };
  } catch (error) {
    return { earlier: NO_REPORTS, trouble: error as Error };
  }
}

function jobOrderOf(
  { grace }: RecoveryParts,
  { source, dryRun, signal }: ReconcileOrder,
  alreadyRecorded: EarlierReports['told'],
): JobOrder {
  return {
    source: source ?? null,
    insist: false,
    grace,
    again: false,
    dryRun: dryRun ?? false,
    origin: 'recovery',
    actor: null,
    signal,
    alreadyRecorded,
  };
}

async function recoverNamed({ parts, order, report, limit }: Run, jobs: readonly string[]): Promise<void> {
  const { source, dryRun = false, signal, regions } = order;
  const one = async (jobId: string) => {
    signal?.throwIfAborted();
    settle(await refetch(parts, { jobId, source, dryRun, signal, regions }), null, order, report);
  };
  await settleAll([...new Set(jobs)].map((jobId) => limit(() => one(jobId))));
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

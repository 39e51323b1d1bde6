import { isStandIn } from '../../domain/kinds.js';
import type { RecoveryOutcome } from '../../domain/recovery-outcome.js';
import type { JobsClient } from '../../speech/batch/jobs-client.js';
import type { JobRecord } from '../../speech/wire.js';
import type { Expectation, ExpectedCallback, ExpectedItem } from './expectation.js';
import { claimEnd, type EndedJob, isEndRecorded, lastArrival, noteArrival } from './fetch/claim-end.js';
import { fetchMissing, type ItemResult } from './fetch/fetch-missing.js';
import { createContexts, recordEnd } from './fetch/record-recovery.js';
import { isGone, isRetried, joinReasons, notificationFailure } from './plan-job.js';
import { ErasedError } from './recovery-errors.js';
import type { JobOptions, RecoveryParts } from './recovery-parts.js';
import { jobResult, resultWithoutItems } from './report/job-result.js';
import type { RecoveredJob } from './report/recovery-report.js';
import { wasErased } from './was-erased.js';

const ON_RECORD = 'there is no transcript, as the ledger records';
const BEING_RETRIED = 'the service is still retrying its callback';
const BEING_RECORDED = 'another run is recording that it has no transcript';

/** State of one callback of a job that ended without a transcript; the results of its items, if any were fetched. */
type CallbackState = 'on-record' | 'retried' | 'claimed' | 'recorded' | readonly ItemResult[];

/**
 * Reconciles a job that ended without a transcript: no artefact is missing, but if its callback was lost, nothing records its end. It is
 * then recorded once for each source, with the status that the callback would have had, and with its jobinfo where that is expected.
 * Rejects as `reconcileJob` does.
 */
export async function recordEnded(
  parts: RecoveryParts,
  client: JobsClient,
  job: JobRecord,
  expectation: Expectation,
  options: JobOptions,
): Promise<RecoveredJob> {
  const states: CallbackState[] = [];
  for (const callback of expectation.callbacks)
    states.push(await reconcileCallback({ parts, client, job, expectation, options }, callback));
  const items = states.flatMap((state) => (typeof state === 'string' ? [] : state));
  const reason = endedReason(job);
  if (items.length > 0) return jobResult(job, client.region, items, reason);
  const result = (outcome: RecoveryOutcome, why: string) =>
    resultWithoutItems(job.id, client.region, outcome, why);
  if (states.includes('retried')) return result('pending', BEING_RETRIED);
  if (states.includes('claimed')) return result('pending', BEING_RECORDED);
  if (!states.includes('recorded')) return result('matched', `${reason}; ${ON_RECORD}`);
  return { ...result(isGone(job) ? 'unrecoverable' : 'matched', reason), recorded: true };
}

interface EndedJobContext {
  readonly parts: RecoveryParts;
  readonly client: JobsClient;
  readonly job: JobRecord;
  readonly expectation: Expectation;
  readonly options: JobOptions;
}

async function reconcileCallback(ended: EndedJobContext, callback: ExpectedCallback): Promise<CallbackState> {
  const { parts, job, options } = ended;
  const { signal, lookupLimit, grace, dryRun } = options;
  const place: EndedJob = { jobId: job.id, source: callback.source, createdAt: job.created_at };
  signal?.throwIfAborted();
  if (await lookupLimit(() => isEndRecorded(parts, place))) return 'on-record';
  if (await wasErased(parts, job)) throw new ErasedError();
  const arrival = await lookupLimit(() => lastArrival(parts, place));
  if (arrival !== null) {
    if (!dryRun) await noteArrival(parts, place, arrival);
    return 'on-record';
  }
  if (isRetried({ job, now: parts.clock(), grace })) return 'retried';
  return dryRun ? 'recorded' : options.fetchLimit(() => recordOnce(ended, callback, place));
}

async function recordOnce(
  { parts, client, job, expectation, options }: EndedJobContext,
  callback: ExpectedCallback,
  place: EndedJob,
): Promise<CallbackState> {
  const startedAt = parts.clock();
  const claim = await claimEnd(parts, place);
  if (claim === null) return (await isEndRecorded(parts, place)) ? 'on-record' : 'claimed';
  const contextOf = createContexts(parts, job, client.region, options.origin, startedAt);
  const delivery = { ...contextOf(callback), deliveryId: claim.deliveryId };
  const results = await fetchMissing(
    parts,
    client,
    jobinfoOf(job, expectation, callback),
    () => delivery,
    options.signal,
  ).catch(async (error: unknown) => {
    await claim.release();
    throw error;
  });
  if (results.some(({ outcome }) => outcome === 'failed')) {
    await claim.release();
    return results;
  }
  await recordEnd(parts, {
    delivery,
    callback,
    results,
    reason: endedReason(job),
    job,
    options,
    startedAt,
  });
  await claim.confirm();
  return results.some(({ stored }) => stored !== null && stored.outcome !== 'identical')
    ? results
    : 'recorded';
}

/** The record of a job that is gone cannot be requested any more. */
function jobinfoOf(job: JobRecord, { items }: Expectation, callback: ExpectedCallback): ExpectedItem[] {
  if (isGone(job)) return [];
  return items.filter(({ kind, source }) => isStandIn(kind) && source === callback.source);
}

function endedReason(job: JobRecord): string {
  const end = isGone(job) ? `the job is ${job.status}` : 'the service rejected the job';
  return joinReasons([end, notificationFailure(job)]) ?? end;
}

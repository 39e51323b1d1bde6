import { isErased } from '../../../archive/erasure/erasure.js';
import type { RecoveryOutcome } from '../../../domain/recovery-outcome.js';
import type { JobRecord } from '../../../speech/wire.js';
import type { ObjectStore } from '../../../store/object-store.js';
import type { ItemResult } from '../fetch/fetch-missing.js';
import { retentionDeadline } from '../fetch/retention-deadline.js';
import { joinReasons, type Plan } from '../plan-job.js';
import type { RecoveredItem, RecoveredJob } from './recovery-report.js';

/**
 * The result of a job for which nothing was stored or recorded.
 *
 * @param stored keys that a fetch would only compare
 */
export function unchangedResult(
  job: JobRecord,
  region: string,
  { step, missing, reason }: Plan,
  stored: ReadonlySet<string> = new Set(),
): RecoveredJob {
  const absent = missing.filter(({ key }) => !stored.has(key));
  const compared = missing.filter(({ key }) => stored.has(key)).map(({ kind }) => kind);
  const intended = [
    absent.length > 0 ? 'would be fetched' : null,
    compared.length > 0 ? `stored, and would be fetched to compare: ${compared.join(', ')}` : null,
  ];
  return {
    jobId: job.id,
    region,
    outcome: step === 'fetch' ? 'pending' : step,
    reason: step === 'fetch' ? joinReasons([...intended, reason]) : reason,
    items: absent.map(({ kind, key }) => ({ kind, key, outcome: step === 'expired' ? step : 'missing' })),
  };
}

/** The result of a job without results of single items. */
export function resultWithoutItems(
  jobId: string,
  region: string | null,
  outcome: RecoveryOutcome,
  reason: string,
): RecoveredJob {
  return { jobId, region, outcome, reason, items: [] };
}

/**
 * The result of a job from the results of its items.
 *
 * @param reason about the notification, by the job's record
 */
export function jobResult(
  job: JobRecord,
  region: string,
  results: readonly ItemResult[],
  reason: string | null,
): RecoveredJob {
  return {
    jobId: job.id,
    region,
    outcome: outcomeOfItems(results),
    reason: joinReasons([reason, ...new Set(results.map((result) => result.reason))]),
    items: results.map(({ item, stored, outcome: itemOutcome }) => ({
      kind: item.kind,
      key: stored?.key ?? item.key,
      outcome: itemOutcome,
    })),
  };
}

/**
 * Adds the end of the service's retention to the reason of a failed job, if that is soon. For reports only: in the ledger the reason is
 * the cause by which failing jobs are grouped.
 *
 * @param retention milliseconds that the service keeps results
 * @param now milliseconds since the epoch
 */
export function withRetentionEnd(
  result: RecoveredJob,
  { created_at }: JobRecord,
  retention: number,
  now: number,
): RecoveredJob {
  const end = result.outcome === 'failed' ? retentionDeadline(created_at, retention, now) : null;
  if (end === null) return result;
  const deadline = `the service keeps it only until ${end.toISOString()}`;
  return { ...result, reason: joinReasons([result.reason, deadline]) };
}

/**
 * The result of a job that the service no longer has. Artefacts that were stored otherwise in the meantime are not missing, and nothing
 * of an erased job is.
 *
 * @param reason why the service has nothing
 */
export async function vanishedJobResult(
  store: ObjectStore,
  earlier: RecoveredJob,
  reason: string | null,
): Promise<RecoveredJob> {
  const items: RecoveredItem[] = [];
  for (const { kind, key } of earlier.items) {
    if ((await store.head(key)) === null) items.push({ kind, key, outcome: 'unrecoverable' });
  }
  // A job that was still running has no items: nothing was required of it yet.
  const isComplete = items.length === 0 || (await isErased(store, earlier.jobId));
  return isComplete
    ? { ...earlier, outcome: 'matched', reason, items: [] }
    : { ...earlier, outcome: 'unrecoverable', reason, items };
}

/** The most serious outcome of the items. */
export function outcomeOfItems(results: readonly Pick<ItemResult, 'outcome'>[]): RecoveryOutcome {
  const some = (outcome: RecoveredItem['outcome']) => results.some((result) => result.outcome === outcome);
  if (some('failed')) return 'failed';
  if (some('unrecoverable')) return 'unrecoverable';
  if (some('conflict')) return 'conflict';
  return some('created') ? 'recovered' : 'matched';
}

import type { JobRecord } from '../speech/wire.js';
import type { ItemResult } from './fetch-missing.js';
import { joinReasons } from './join-reasons.js';
import type { Plan } from './plan.js';
import type { RecoveredItem, RecoveredJob, RecoveryOutcome } from './recovery-report.js';
import { endOfRetention, type RetentionRules } from './retention.js';

/** What is told of a job about which nothing was done. */
export function untouched(job: JobRecord, region: string, plan: Plan): RecoveredJob {
  const { step, missing, reason } = plan;
  return {
    jobId: job.id,
    region,
    outcome: step === 'fetch' ? 'pending' : step,
    reason: step === 'fetch' ? joinReasons(['would be fetched', reason]) : reason,
    items: missing.map(({ kind, key }) => ({ kind, key, outcome: 'missing' })),
  };
}

/**
 * What is told of a job after something was tried.
 *
 * @param reason what the record says about the notification
 * @param now milliseconds since the epoch
 */
export function concluded(
  job: JobRecord,
  region: string,
  results: readonly ItemResult[],
  reason: string | null,
  rules: RetentionRules,
  now: number,
): RecoveredJob {
  const outcome = outcomeOfItems(results);
  const end = outcome === 'failed' ? endOfRetention(job.created_at, rules, now) : null;
  const deadline = end === null ? null : `the service keeps it only until ${end.toISOString()}`;
  return {
    jobId: job.id,
    region,
    outcome,
    reason: joinReasons([reason, ...new Set(results.map((result) => result.reason)), deadline]),
    items: results.map(({ item, stored, outcome: itemOutcome }) => ({
      kind: item.kind,
      key: stored?.key ?? item.key,
      outcome: itemOutcome,
    })),
  };
}

/** The most serious outcome of any item is the job's. */
export function outcomeOfItems(results: readonly Pick<ItemResult, 'outcome'>[]): RecoveryOutcome {
  const some = (outcome: RecoveredItem['outcome']) => results.some((result) => result.outcome === outcome);
  if (some('failed')) return 'failed';
  if (some('unrecoverable')) return 'unrecoverable';
  if (some('conflict')) return 'conflict';
  return some('created') ? 'recovered' : 'matched';
}

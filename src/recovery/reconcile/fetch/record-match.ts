import { isErased } from '../../../archive/erasure/erasure.js';
import { ledgerLine, NO_DELIVERY, newDeliveryId } from '../../../ledger/ledger-line.js';
import { failureReason } from '../recovery-errors.js';
import type { JobOptions, RecoveryParts } from '../recovery-parts.js';
import type { RecoveredJob } from '../report/recovery-report.js';

interface MatchRecord extends Pick<JobOptions, 'origin' | 'actor' | 'source'> {
  /** When the archive was checked, in milliseconds since the epoch: later failures are not settled. */
  readonly checkedAt: number;
}

/** Default reason of the line. */
const COMPLETE = 'nothing that is expected of the job is missing';

/**
 * Writes the ledger line of a job that was found complete: a `duplicate`, which settles the job's failures before it
 * (`failure-rules.ts`). An erased job gets none. If the line cannot be written, the job is `failed`.
 */
export async function recordMatch(
  { store, ledger, sources, clock }: RecoveryParts,
  job: RecoveredJob,
  { origin, actor, source, checkedAt }: MatchRecord,
): Promise<RecoveredJob> {
  const names = Object.keys(sources);
  const { jobId, region } = job;
  try {
    if (await isErased(store, jobId)) return job;
    const line = ledgerLine({
      ...NO_DELIVERY,
      deliveryId: newDeliveryId(checkedAt),
      receivedAt: new Date(checkedAt).toISOString(),
      origin,
      actor,
      region,
      jobId,
      source: source ?? (names.length === 1 ? (names[0] ?? null) : null),
      outcome: 'duplicate',
      reason: job.reason ?? COMPLETE,
      durationMs: Math.max(0, clock() - checkedAt),
    });
    await ledger.append(line);
    return job;
  } catch (error) {
    return {
      ...job,
      outcome: 'failed',
      reason: `complete, but missing in the ledger: ${failureReason(error)}`,
    };
  }
}

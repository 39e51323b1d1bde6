import pLimit from 'p-limit';
import type { LedgerLine } from '../../domain/delivery.js';
import { onlySource, type SourceScope } from '../../domain/rights.js';
import { newDeliveryId, operatorLine } from '../../ledger/ledger-line.js';
import type { Ledger } from '../../ledger/write/ledger.js';

/** Actor, reason and scope of an acknowledgement. */
interface Acceptance {
  readonly actor: string;
  readonly reason: string;
  /** Sources of the client; the whole job must belong to them. */
  readonly scope: SourceScope;
}

/**
 * Settles the conflicts, losses and quarantined bodies of a job. Returns the ledger line. Rejects with `StoreError`.
 */
export async function acknowledgeJob(
  ledger: Pick<Ledger, 'append'>,
  jobId: string,
  { actor, reason, scope }: Acceptance,
): Promise<LedgerLine> {
  const act = { deliveryId: newDeliveryId(), outcome: 'acknowledged', jobId, source: onlySource(scope) };
  const line = operatorLine({ actor, reason }, act);
  await ledger.append(line);
  return line;
}

const AT_ONCE = 16;

/**
 * Acknowledges many jobs. Repeated after a failure it continues with those that still fail.
 *
 * @param isAllowed whether the client may settle a job as a whole
 * @returns the number of jobs that were acknowledged
 */
export async function acknowledgeJobs(
  ledger: Pick<Ledger, 'append'>,
  jobs: readonly string[],
  acceptance: Acceptance,
  isAllowed: (jobId: string) => Promise<boolean> = async () => true,
): Promise<number> {
  const settled = await pLimit(AT_ONCE).map(jobs, async (jobId) => {
    if (!(await isAllowed(jobId))) return null;
    return acknowledgeJob(ledger, jobId, acceptance);
  });
  return settled.filter((line) => line !== null).length;
}

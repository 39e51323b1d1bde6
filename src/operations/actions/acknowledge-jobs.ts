import pLimit from 'p-limit';
import type { Ledger } from '../../ledger/write/ledger.js';
import { type Acceptance, acknowledgeJob } from './acknowledge-job.js';

const AT_ONCE = 16;

/**
 * Acknowledges many jobs. Repeated after a failure it goes on with those that still fail.
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

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
  const limit = pLimit(AT_ONCE);
  let acknowledged = 0;
  await Promise.all(
    jobs.map((jobId) =>
      limit(async () => {
        if (!(await isAllowed(jobId))) return;
        await acknowledgeJob(ledger, jobId, acceptance);
        acknowledged += 1;
      }),
    ),
  );
  return acknowledged;
}

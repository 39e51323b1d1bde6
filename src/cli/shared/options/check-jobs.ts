import { isJobId } from '../../../domain/job.js';
import { UsageError } from '../exit-codes.js';

/** Throws `UsageError` for an invalid job id. */
export function checkJobs(jobs: readonly string[] | undefined): void {
  const wrong = jobs?.find((id) => !isJobId(id));
  if (wrong === undefined) return;
  throw new UsageError(`${JSON.stringify(wrong)} is not a job id: letters, digits, - and _, at most 64`);
}

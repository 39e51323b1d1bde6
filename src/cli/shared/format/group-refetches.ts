import type { VerifyReport } from '../../../recovery/verify/verify-report.js';

/** Jobs of one command: a longer line is hard to copy. */
const MAX_JOBS = 1_000;

const REFETCH = /^transcript-receiver refetch (\S+)(?: --source (\S+))?$/;

/**
 * The commands of a report that fetch again what is missing, many jobs of a source by one replay. What a replay cannot do, such as
 * fetching a damaged artefact again, stays a command for each job.
 */
export function groupRefetches({ refetch, missing }: Pick<VerifyReport, 'refetch' | 'missing'>): string[] {
  const groups = new Map<string, string[]>();
  const others: string[] = [];
  for (const command of refetch) {
    const [, job, source = ''] = REFETCH.exec(command) ?? [];
    if (job === undefined) others.push(command);
    else groups.set(source, [...(groups.get(source) ?? []), job]);
  }
  const ofGroups = [...groups].flatMap(([source, jobs]) =>
    chunksOf(jobs).map((some) => commandFor(source, some, missing)),
  );
  return [...ofGroups, ...others];
}

function chunksOf(jobs: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(jobs.length / MAX_JOBS) }, (_, index) =>
    jobs.slice(index * MAX_JOBS, (index + 1) * MAX_JOBS),
  );
}

/** A replay with a source looks for the lines of the jobs, which it has to be told how far back. */
function commandFor(source: string, jobs: readonly string[], missing: VerifyReport['missing']): string {
  const [only = '', another] = jobs;
  const option = source === '' ? '' : ` --source ${source}`;
  if (another === undefined) return `transcript-receiver refetch ${only}${option}`;
  const named = new Set(jobs);
  const received = missing.flatMap(({ jobId, receivedAt }) =>
    jobId !== null && named.has(jobId) ? [receivedAt] : [],
  );
  const since = source === '' ? '' : ` --since ${received.sort()[0]}`;
  const list = jobs.map((job) => ` --job ${job}`).join('');
  return `transcript-receiver replay refetch${option}${since}${list} --reason "lost from the store"`;
}

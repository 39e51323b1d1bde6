import { apiError, type ServerAnswer } from '../http-server.js';
import { jobRecord, type SimulatedJob } from './simulated-job.js';

/** A page of the list: at most `limit` (1 to 100) jobs created before `created_before`, newest first. */
export function listJobs(jobs: readonly SimulatedJob[], query: URLSearchParams): ServerAnswer {
  const limit = Number(query.get('limit') ?? 100);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    return apiError(400, 'Bad Request', 'limit: 1 to 100');
  const before = query.get('created_before');
  const beforeMs = before === null ? Number.POSITIVE_INFINITY : Date.parse(before);
  if (Number.isNaN(beforeMs)) return apiError(400, 'Bad Request', 'created_before: not a time');
  const gone = query.get('include_deleted') === 'true';
  const page = jobs
    .filter(({ createdAt }) => createdAt < beforeMs)
    .filter(({ status }) => gone || (status !== 'deleted' && status !== 'expired'))
    .slice(0, limit);
  return { status: 200, json: { jobs: page.map(jobRecord) } };
}

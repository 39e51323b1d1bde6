import { kindOfDocument } from '../../domain/kinds.js';
import { cutAnswer, faultAnswer } from '../api-faults.js';
import { jobContent } from '../content/job-contents.js';
import type { ActiveFaults, ApiOperation } from '../faults.js';
import { apiError, type Call, type Handler, methodNotAllowed, type ServerAnswer } from '../http-server.js';
import type { KeyRing } from '../key-ring.js';
import { submissionFault } from './job-config.js';
import type { JobStore, NewJob, Viewer } from './job-store.js';
import { readSubmission } from './job-submission.js';
import { jobRecord, type SimulatedJob } from './simulated-job.js';

export interface JobsApiParts {
  readonly region: string;
  readonly jobs: JobStore;
  readonly keys: KeyRing;
  readonly faults: ActiveFaults;
  /** Folder in which uploads are spooled. */
  readonly folder: string;
  submit(job: NewJob): SimulatedJob;
}

/** One operation, recognised from method and path. */
interface Operation {
  readonly name: ApiOperation;
  readonly jobId: string | null;
}

/** The operations of a path, by method. */
interface Resource {
  readonly jobId: string | null;
  readonly methods: Readonly<Record<string, ApiOperation>>;
}

/** The jobs API of one region. */
export function jobsApi(parts: JobsApiParts): Handler {
  return async (call) => {
    const resource = resourceAt(call.path);
    if (!resource) return apiError(404, 'Not Found', 'no such path');
    const { jobId, methods } = resource;
    const name = Object.hasOwn(methods, call.method) ? methods[call.method] : undefined;
    if (name === undefined) return methodNotAllowed(Object.keys(methods));
    const operation: Operation = { name, jobId };
    const place = { region: parts.region, jobId: operation.jobId };
    const fault = parts.faults.ofOperation(operation.name, place);
    const instead = faultAnswer(fault);
    if (instead) return instead;
    const caller = await parts.keys.identify(call.headers.authorization);
    if (!caller || (caller.kind === 'temporary-key' && caller.type === 'rt'))
      return apiError(401, 'Permission Denied');
    const viewer = caller.kind === 'api-key' ? null : caller.clientRef;
    return cutAnswer(await perform(operation, call, viewer, parts), fault);
  };
}

/**
 * The prefix is optional for jobs by id, because the specification writes that path without it.
 */
function resourceAt(path: readonly string[]): Resource | null {
  const [first, second, third, more] = path[0] === 'v2' ? path.slice(1) : path;
  if (more !== undefined) return null;
  if (first === 'usage' && second === undefined) return { jobId: null, methods: { GET: 'usage' } };
  if (first !== 'jobs') return null;
  if (second === undefined) return { jobId: null, methods: { GET: 'list', POST: 'submit' } };
  if (third === undefined) return { jobId: second, methods: { GET: 'record', DELETE: 'delete' } };
  if (third === 'transcript') return { jobId: second, methods: { GET: 'transcript' } };
  return third === 'data' ? { jobId: second, methods: { GET: 'media' } } : null;
}

async function perform(
  operation: Operation,
  call: Call,
  viewer: Viewer,
  parts: JobsApiParts,
): Promise<ServerAnswer> {
  const { jobs, region } = parts;
  if (operation.name === 'submit') return submitJob(call, viewer, parts);
  if (operation.name === 'list') return listJobs(jobs.list(region, viewer), call.query);
  if (operation.name === 'usage') {
    if (viewer !== null) return apiError(403, 'Forbidden', 'usage is not open to keys made with client_ref');
    // The specification shows no payload.
    return { status: 200, json: { summary: [{ mode: 'batch', count: jobs.list(region, null).length }] } };
  }
  const job = jobs.find(region, operation.jobId ?? '', viewer);
  if (!job || job.status === 'deleted') return apiError(404, 'Job not found');
  if (operation.name === 'delete') return deleteJob(job, call.query);
  if (job.status === 'expired') return apiError(410, 'Job Expired');
  if (operation.name === 'record') return { status: 200, json: { job: jobRecord(job) } };
  if (operation.name === 'media') return { status: 200, content: jobContent(job, 'data') };
  return transcriptOf(job, call.query.get('format') ?? 'json-v2');
}

function transcriptOf(job: SimulatedJob, format: string): ServerAnswer {
  const kind = kindOfDocument(format);
  if (kind === null || !kind.startsWith('transcript.'))
    return apiError(400, 'Bad Request', `format: unknown ${format}`);
  if (job.status === 'rejected') return apiError(404, 'Job rejected');
  if (job.status !== 'done') return apiError(404, 'Transcription not ready');
  return { status: 200, content: jobContent(job, kind) };
}

function deleteJob(job: SimulatedJob, query: URLSearchParams): ServerAnswer {
  if (job.status === 'running' && query.get('force') !== 'true')
    return apiError(423, 'Resource Locked', 'the job is running');
  job.status = 'deleted';
  return { status: 200, json: { job: jobRecord(job) } };
}

async function submitJob(call: Call, viewer: Viewer, parts: JobsApiParts): Promise<ServerAnswer> {
  if (!call.headers['content-type']?.startsWith('multipart/form-data'))
    return apiError(400, 'Bad Request', 'multipart/form-data expected');
  const submission = await readSubmission(call.headers, call.body, parts.folder).catch(() => null);
  if (!submission) return apiError(400, 'Malformed request', 'the form is broken');
  const { config, media, dataName } = submission;
  const fault = submissionFault(config);
  if (fault) return apiError(400, 'Malformed request', fault);
  const checked = config as NewJob['config'];
  if (!media && !checked.fetch_data) return apiError(400, 'Missing data_file');
  const job = parts.submit({
    region: parts.region,
    config: checked,
    clientRef: viewer,
    ...(media ? { media, dataName } : {}),
  });
  return { status: 201, json: { id: job.id } };
}

/** A page of the list: at most `limit` (1 to 100) jobs created before `created_before`, newest first. */
function listJobs(jobs: readonly SimulatedJob[], query: URLSearchParams): ServerAnswer {
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

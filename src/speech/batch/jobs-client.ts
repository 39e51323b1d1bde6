import { isJobId } from '../../domain/job.js';
import type { JobDocument, TranscriptFormat } from '../../domain/kinds.js';
import { isJsonObject } from '../../lib/text/parse-json.js';
import type { Download } from '../http/download.js';
import type { SpeechRequest, Transport } from '../http/transport.js';
import { SpeechError } from '../speech-error.js';
import type { JobRecord, UsageResponse } from '../wire.js';
import { type JobPage, PAGE_SIZE, walkJobs } from './job-pages.js';
import { readJobList, readJobRecord } from './job-shapes.js';

/** Paths below a batch address; `{id}` stands for the job. */
export interface JobPaths {
  readonly list: string;
  readonly record: string;
  readonly transcript: string;
  readonly media: string;
  readonly usage: string;
}

/** The list by the specification, the rest by public documentation (docs/service-interface.md#batch-api). */
export const DEFAULT_PATHS: JobPaths = {
  list: '/v2/jobs/',
  record: '/v2/jobs/{id}',
  transcript: '/v2/jobs/{id}/transcript',
  media: '/v2/jobs/{id}/data',
  usage: '/v2/usage',
};

export interface ListOptions {
  /** Only jobs created at or after this. */
  readonly since?: Date;
  readonly includeDeleted?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * The jobs API of one region. A job is known only in the region that made it, so its requests all belong to
 * that region's client. Every failure is a `SpeechError`; `not-found` and `gone` are answers of the service,
 * never inferred from a proxy's page.
 */
export interface JobsClient {
  readonly region: string;
  /**
   * The list from new to old, page by page, without duplicates or gaps at page borders.
   *
   * @example
   * for await (const { jobs: page } of jobs.list({ since: new Date('2026-03-04') })) {
   *   for (const { id, status } of page) console.log(id, status);
   * }
   */
  list(options?: ListOptions): AsyncIterable<JobPage>;
  /**
   * Record of a job, with the errors of its callbacks.
   *
   * @example
   * const { status, errors } = await jobs.record('650krlru2e');
   */
  record(jobId: string, signal?: AbortSignal): Promise<JobRecord>;
  /**
   * Downloads a document and passes it to `take`. A download that is truncated, stalls or is too slow is retried from its
   * beginning, and `take` is called again. An error of `take` itself is thrown and not retried. `not-found` also while the
   * transcript is not ready yet.
   *
   * @example
   * const transcript = await jobs.receive('650krlru2e', 'txt', ({ body }) => text(body));
   */
  receive<T>(
    jobId: string,
    document: JobDocument,
    take: (download: Download) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
  /**
   * Usage in a window of dates or times, as the service reads them. `forbidden` with a key made with `client_ref`.
   *
   * @example
   * const report = await jobs.usage({ since: '2026-03-01', until: '2026-04-01' });
   */
  usage(window?: { since?: string; until?: string }, signal?: AbortSignal): Promise<UsageResponse>;
}

export function createJobsClient(
  region: string,
  batchUrl: URL,
  paths: JobPaths,
  transport: Transport,
): JobsClient {
  const buildRequest = requestBuilder(region, batchUrl, paths);
  return {
    region,
    list: (list = {}) => listJobs(buildRequest, transport, list),
    async record(jobId, signal) {
      const request = buildRequest('record', `read job ${jobId}`, { jobId, signal });
      const answer = await transport.json(request);
      const job = isJsonObject(answer) ? readJobRecord(answer.job) : null;
      if (!job || job.id !== jobId) throw invalid(request, 'the answer is no record of this job');
      return job;
    },
    receive: async (jobId, document, take, signal) =>
      transport.receive(documentRequest(buildRequest, jobId, document, signal), take),
    async usage(window = {}, signal) {
      const request = buildRequest('usage', 'read usage', { query: window, signal });
      const answer = await transport.json(request);
      if (!isJsonObject(answer)) throw invalid(request, 'the answer is no usage report');
      return answer;
    },
  };
}

interface RequestParts {
  readonly jobId?: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

type BuildRequest = (path: keyof JobPaths, what: string, parts: RequestParts) => SpeechRequest;

/** Builds requests to one region. An invalid id never gets into a path. */
function requestBuilder(region: string, batchUrl: URL, paths: JobPaths): BuildRequest {
  return (path, what, { jobId, query = {}, signal }) => {
    const operation = `${what} in ${region}`;
    if (jobId !== undefined && !isJobId(jobId)) {
      throw new SpeechError('invalid-request', `use a job in ${region}`, 'this is no job id');
    }
    const url = new URL(batchUrl);
    url.pathname = `${url.pathname.replace(/\/+$/, '')}${paths[path].replaceAll('{id}', jobId ?? '')}`;
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    return { operation, method: 'GET', url, signal };
  };
}

/** The operation names no job, so that errors of many jobs share one text; the caller that reports one names its job. */
function documentRequest(
  buildRequest: BuildRequest,
  jobId: string,
  document: JobDocument,
  signal?: AbortSignal,
): SpeechRequest {
  if (document === 'record') return buildRequest('record', 'fetch a job record', { jobId, signal });
  if (document === 'media') return buildRequest('media', 'fetch media', { jobId, signal });
  const format: TranscriptFormat = document;
  const query = { format };
  return buildRequest('transcript', `fetch ${format} transcript`, { jobId, query, signal });
}

function listJobs(
  buildRequest: BuildRequest,
  transport: Transport,
  options: ListOptions,
): AsyncIterable<JobPage> {
  const fetch = async (createdBefore: string | null) => {
    const query = {
      limit: String(PAGE_SIZE),
      created_before: createdBefore ?? undefined,
      include_deleted: options.includeDeleted ? 'true' : undefined,
    };
    const request = buildRequest('list', 'list jobs', { query, signal: options.signal });
    const list = readJobList(await listWithEitherSlash(transport, request));
    if (!list) throw invalid(request, 'the answer is no list of jobs');
    return list;
  };
  return walkJobs(fetch, options.since?.getTime());
}

/**
 * The specification writes the list's path with a trailing slash, public documentation without. A server may know only one of
 * them, so a 404 is retried with the other.
 */
async function listWithEitherSlash(transport: Transport, request: SpeechRequest): Promise<unknown> {
  try {
    return await transport.json(request);
  } catch (error) {
    // By status, not by kind: many servers answer an unknown path with 404 and a web page.
    const absent = error instanceof SpeechError && (error.status === 404 || error.kind === 'redirect');
    if (!absent) throw error;
    const url = new URL(request.url);
    url.pathname = url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : `${url.pathname}/`;
    return await transport.json({ ...request, url }).catch(() => {
      throw error;
    });
  }
}

function invalid(request: SpeechRequest, text: string): SpeechError {
  return new SpeechError('invalid-response', request.operation, text);
}

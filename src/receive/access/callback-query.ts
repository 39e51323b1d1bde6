import {
  CONTEXT_NAME,
  type DeliveryContext,
  MAX_CONTEXT_NAMES,
  type QueryContext,
  RESERVED_PARAMETERS,
  readContext,
} from '../../domain/context.js';
import { isCallbackStatus, isJobId, TEST_STATUS } from '../../domain/job.js';
import { Problem } from '../../domain/problem.js';

/** The query parameters of a callback. */
export interface CallbackQuery extends QueryContext {
  readonly jobId: string;
  readonly status: string;
  /** Tokens of the submitter's `contents` parameter, which names the kind of a body that is not multipart; empty without it. */
  readonly contents: readonly string[];
}

/** Limit of the tokens kept; the service has fewer kinds of content. */
const MAX_CONTENTS = 16;

/**
 * Parses the raw query, without its `?`. `id` and `status` must occur exactly once. `contents` is a hint. All
 * other parameters belong to the submitter; those in the source's `context` are kept. Throws `query-invalid`.
 */
export function parseCallbackQuery(rawQuery: string, contextNames: readonly string[] = []): CallbackQuery {
  const parameters = new URLSearchParams(rawQuery);
  const jobId = single(parameters, 'id');
  if (!isJobId(jobId)) {
    throw invalid('The query parameter id must be 1 to 64 letters, digits, hyphens or underscores.');
  }
  const status = single(parameters, 'status');
  if (!isCallbackStatus(status)) {
    throw invalid(
      'The query parameter status must be 1 to 64 letters, digits, dots, hyphens or underscores.',
    );
  }
  const { context, contextOmitted } = readContext(parameters, contextNames);
  return { jobId, status, contents: contentsOf(parameters), context, contextOmitted };
}

/** Whether a raw query is that of a test callback of `doctor`. */
export function isTestQuery(rawQuery: string): boolean {
  return new URLSearchParams(rawQuery).get('status') === TEST_STATUS;
}

/** The known and the configured parameters, as a query. All others belong to the submitter and may be secret. */
export function storableQuery({ jobId, status, contents, context }: CallbackQuery): string {
  const known = new URLSearchParams({ id: jobId, status, ...context });
  if (contents.length > 0) known.set('contents', contents.join(','));
  return known.toString();
}

/** The context in a result of `storableQuery`: its names were configured at that time. */
export function contextOfStoredQuery(query: string): DeliveryContext | null {
  const parameters = new URLSearchParams(query);
  const names = [...new Set(parameters.keys())].filter(
    (name) => CONTEXT_NAME.test(name) && !RESERVED_PARAMETERS.includes(name),
  );
  return readContext(parameters, names.slice(0, MAX_CONTEXT_NAMES)).context;
}

function single(parameters: URLSearchParams, name: string): string {
  const values = parameters.getAll(name);
  if (values.length > 1) throw invalid(`The query parameter ${name} occurs more than once.`);
  if (values[0] === undefined) throw invalid(`The query parameter ${name} is missing.`);
  return values[0];
}

function contentsOf(parameters: URLSearchParams): readonly string[] {
  if (!parameters.has('contents')) return [];
  const tokens = parameters.getAll('contents').flatMap((value) => value.split(','));
  const known = tokens.map((token) => token.trim()).filter((token) => /^[A-Za-z0-9_.:-]{1,64}$/.test(token));
  return [...new Set(known)].slice(0, MAX_CONTENTS);
}

function invalid(detail: string): Problem {
  return new Problem('query-invalid', detail);
}

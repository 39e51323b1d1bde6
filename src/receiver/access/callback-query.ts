import { isCallbackStatus, isJobId } from '../../domain/job.js';
import { Problem } from '../../domain/problem.js';

/** What a callback says of itself in its address. */
export interface CallbackQuery {
  readonly jobId: string;
  readonly status: string;
  /** Tokens of the submitter's own `contents` parameter, which says what a lone body is; empty without one. */
  readonly contents: readonly string[];
}

/** More tokens than contents exist help nobody. */
const MAX_CONTENTS = 16;
const NO_CONTENTS: readonly string[] = [];

/**
 * Reads the raw query, without its `?`. `id` and `status` come exactly once; `contents` is a hint; all other
 * parameters are the submitter's own. Throws `query-invalid`.
 */
export function parseCallbackQuery(rawQuery: string): CallbackQuery {
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
  return { jobId, status, contents: contentsOf(parameters) };
}

/** The parameters that are understood, as a query: all others are the submitter's own, and may be secret. */
export function storableQuery({ jobId, status, contents }: CallbackQuery): string {
  const known = new URLSearchParams({ id: jobId, status });
  if (contents.length > 0) known.set('contents', contents.join(','));
  return known.toString();
}

function single(parameters: URLSearchParams, name: string): string {
  const values = parameters.getAll(name);
  if (values.length > 1) throw invalid(`The query parameter ${name} occurs more than once.`);
  if (values[0] === undefined) throw invalid(`The query parameter ${name} is missing.`);
  return values[0];
}

function contentsOf(parameters: URLSearchParams): readonly string[] {
  if (!parameters.has('contents')) return NO_CONTENTS;
  const tokens = parameters.getAll('contents').flatMap((value) => value.split(','));
  const known = tokens.map((token) => token.trim()).filter((token) => /^[A-Za-z0-9_.:-]{1,64}$/.test(token));
  return [...new Set(known)].slice(0, MAX_CONTENTS);
}

function invalid(detail: string): Problem {
  return new Problem('query-invalid', detail);
}

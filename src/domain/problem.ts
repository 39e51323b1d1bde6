/**
 * Every error a sender or operator can receive: one stable code each, and one table from code to status (docs/answers.md).
 * Rendered as RFC 9457 problem+json in one place per app.
 */
const PROBLEMS = {
  'query-invalid': [400, 'The query does not identify a job'],
  'body-malformed': [400, 'The body could not be decoded and was not kept'],
  'request-malformed': [400, 'The request is not valid HTTP'],
  'request-invalid': [400, 'The request is not valid'],
  'credential-invalid': [401, 'The credential is missing or wrong'],
  'address-refused': [403, 'The address is not allowed'],
  'address-unreadable': [403, 'The client address cannot be read'],
  'host-unknown': [403, 'The host is not allowed'],
  'not-direct': [403, 'The source takes direct requests only'],
  'source-unknown': [404, 'No such source'],
  'not-found': [404, 'No such resource'],
  'method-not-allowed': [405, 'The method is not supported here'],
  'head-too-slow': [408, 'The headers came too slowly'],
  'body-too-slow': [408, 'The body stalled or came too slowly'],
  'length-required': [411, 'The length of the body is missing'],
  conflict: [409, 'The state does not allow this'],
  'body-too-large': [413, 'The body is larger than this source accepts'],
  'range-not-satisfiable': [416, 'The range lies outside the artefact'],
  'too-many-attempts': [429, 'Too many failed attempts'],
  'head-too-large': [431, 'The headers are too large'],
  internal: [500, 'Something went wrong here'],
  'service-unreachable': [502, 'The speech service could not be asked'],
  'store-unavailable': [503, 'The store cannot take it now'],
  'write-race': [503, 'Another delivery wrote the same artefact at the same moment'],
  overloaded: [503, 'Too much is being received right now'],
  draining: [503, 'This replica is shutting down'],
} as const satisfies Record<string, readonly [status: number, title: string]>;

export type ProblemCode = keyof typeof PROBLEMS;

/** All codes, e.g. to bound what can become a metric label. */
export const PROBLEM_CODES = Object.keys(PROBLEMS) as readonly ProblemCode[];

/** An error with a stable `code`. Its `message` may be shown to the client; `cause` is for the log only. */
export class Problem extends Error {
  readonly code: ProblemCode;
  /** When to retry, as requested by the store or service; null for the default. */
  readonly retryAfterMs: number | null;

  constructor(
    code: ProblemCode,
    detail: string,
    options?: { cause?: unknown; retryAfterMs?: number | null },
  ) {
    super(detail, options);
    this.name = 'Problem';
    this.code = code;
    this.retryAfterMs = options?.retryAfterMs ?? null;
  }

  get status(): number {
    return PROBLEMS[this.code][0];
  }

  get title(): string {
    return PROBLEMS[this.code][1];
  }
}

/** RFC 9457 document of a problem; `extra` adds members such as the delivery id. */
export function problemDocument(
  problem: Problem,
  extra: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    type: `urn:transcript-receiver:problem:${problem.code}`,
    title: problem.title,
    status: problem.status,
    code: problem.code,
    detail: problem.message,
    ...extra,
  };
}

/** Every unknown error becomes `internal`, without details for the client. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem('internal', 'An internal error occurred; it has been logged.', { cause: error });
}

/*
 * Every error a sender or operator can receive: one stable code each, and one table from code to status (docs/answers.md).
 * Rendered as RFC 9457 problem+json in one place per app.
 */
type Problems = Readonly<Record<string, readonly [status: number, title: string]>>;

/** Problems for which a callback is refused. Each is counted by metrics and watched by an alert. */
const OF_CALLBACKS = {
  'query-invalid': [400, 'The query parameters are invalid'],
  'body-malformed': [400, 'The body could not be decoded and was not stored'],
  'encoding-refused': [400, 'The content encoding is not accepted'],
  'request-malformed': [400, 'The request is not valid HTTP'],
  'credential-invalid': [401, 'The credential is missing or wrong'],
  'address-refused': [403, 'The address is not allowed'],
  'address-unreadable': [403, 'The client address cannot be read'],
  'not-direct': [403, 'The source accepts direct requests only'],
  'source-unknown': [404, 'No such source'],
  'method-not-allowed': [405, 'The method is not allowed'],
  'head-too-slow': [408, 'The headers arrived too slowly'],
  'body-too-slow': [408, 'The body stalled or arrived too slowly'],
  'body-too-large': [413, 'The body is larger than this source accepts'],
  'head-too-large': [431, 'The headers are too large'],
  internal: [500, 'Internal server error'],
  'store-unavailable': [503, 'The store is unavailable'],
  'store-full': [503, 'The store is full'],
  'store-blocked': [503, 'Something is in the way in the store'],
  clock: [503, 'The clock of this replica is wrong'],
  'write-race': [503, 'Another delivery wrote the same artefact at the same time'],
  overloaded: [503, 'The receiver is overloaded'],
  draining: [503, 'This replica is shutting down'],
} as const satisfies Problems;

/** Problems that callbacks never have. */
const OF_OTHER_REQUESTS = {
  'request-invalid': [400, 'The request is not valid'],
  'host-unknown': [403, 'The host is not allowed'],
  'right-missing': [403, 'The right is missing'],
  'scope-exceeded': [403, 'Other sources are concerned too'],
  'not-found': [404, 'No such resource'],
  conflict: [409, 'The request conflicts with the current state'],
  'range-not-satisfiable': [416, 'The range cannot be satisfied'],
  'too-many-attempts': [429, 'Too many failed attempts'],
  'service-unreachable': [502, 'The speech service is unreachable'],
} as const satisfies Problems;

const PROBLEMS = { ...OF_CALLBACKS, ...OF_OTHER_REQUESTS };

export type ProblemCode = keyof typeof PROBLEMS;

/** All codes, e.g. to bound what can become a metric label. */
export const PROBLEM_CODES = Object.keys(PROBLEMS) as readonly ProblemCode[];

/** Reasons of refused callbacks. The sender of an incomplete body has gone, so that no problem is sent. */
export const CALLBACK_REFUSALS = [
  ...(Object.keys(OF_CALLBACKS) as ProblemCode[]),
  'body-incomplete',
] as const;

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

/** RFC 9457 document of a problem. */
export function problemDocument(problem: Problem): Record<string, unknown> {
  return {
    type: `urn:transcript-receiver:problem:${problem.code}`,
    title: problem.title,
    status: problem.status,
    code: problem.code,
    detail: problem.message,
  };
}

/** Every unknown error becomes `internal`, without details for the client. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem('internal', 'An internal error occurred; it has been logged.', { cause: error });
}

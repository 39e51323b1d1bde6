import { StoreError } from './object-store.js';

/**
 * A request S3 did not fulfil. `status` is null when there was no answer, so that nothing is known about
 * what the server did; a 5xx leaves it just as open.
 */
export class S3Failure extends Error {
  readonly status: number | null;
  /** S3's error code, e.g. `SlowDown`, or the network's, e.g. `ECONNRESET`. */
  readonly code: string;
  readonly retryAfterMs: number | null;

  constructor(
    failure: { status: number | null; code: string; retryAfterMs?: number | null },
    options?: { cause?: unknown },
  ) {
    super(failure.status === null ? failure.code : `${failure.status} ${failure.code}`, options);
    this.name = 'S3Failure';
    this.status = failure.status;
    this.code = failure.code;
    this.retryAfterMs = failure.retryAfterMs ?? null;
  }
}

const RETRYABLE_STATUSES = new Set([408, 409, 425, 429, 500, 502, 503, 504]);
/** Told with a 400, or inside a 200. */
const RETRYABLE_CODES = new Set(['InternalError', 'RequestTimeout', 'ServiceUnavailable', 'SlowDown']);

/** Worth another attempt: no answer, overload, a server's own trouble, or 409 (a competing write under way). */
export function isRetryable(failure: S3Failure): boolean {
  if (failure.code === 'CredentialsProviderError') return false;
  return (
    failure.status === null || RETRYABLE_STATUSES.has(failure.status) || RETRYABLE_CODES.has(failure.code)
  );
}

/** The object, or the upload, is not there. A missing bucket is trouble, never an absence. */
export function isMissing(failure: S3Failure): boolean {
  return failure.status === 404 && failure.code !== 'NoSuchBucket';
}

/** What S3 says in the body of a failed answer; compatibles leave parts of it out. */
export function failureOf(status: number, body: string, headers: Headers = {}): S3Failure {
  const code = /<Code>([A-Za-z0-9._-]{1,80})<\/Code>/.exec(body)?.[1] ?? 'no error code';
  return new S3Failure({ status, code, retryAfterMs: retryAfter(headers['retry-after']) });
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function retryAfter(value: string | string[] | undefined): number | null {
  if (typeof value !== 'string') return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

/** Turns what the SDK or the connection pool throws into an `S3Failure`. */
export function asFailure(error: unknown): S3Failure {
  if (error instanceof S3Failure) return error;
  const { $metadata, name, code } = error as {
    $metadata?: { httpStatusCode?: number };
    name?: unknown;
    code?: unknown;
  };
  const status = $metadata?.httpStatusCode ?? null;
  const word = [code, name].find((candidate) => typeof candidate === 'string' && candidate !== 'Error');
  return new S3Failure({ status, code: typeof word === 'string' ? word : 'unknown' }, { cause: error });
}

const EXPLANATIONS: Readonly<Record<string, string>> = {
  NoSuchBucket: 'the bucket does not exist',
  AccessDenied: 'access denied',
  InvalidAccessKeyId: 'the access key is not known there',
  SignatureDoesNotMatch: 'the secret key is wrong, or something in between alters requests',
  ExpiredToken: 'the credentials have expired',
  PermanentRedirect: 'the bucket lies in another region',
  AuthorizationHeaderMalformed: 'the region is wrong for this bucket',
  RequestTimeTooSkewed: 'the clocks of this machine and the server differ too much',
  NotImplemented: 'the server does not know this kind of request',
  BadDigest: 'the body changed on its way',
  XAmzContentSHA256Mismatch: 'the body does not have the sha256 it was announced with',
  CredentialsProviderError: 'no credentials were found',
};

/** What callers see: the operation, what happened in plain words, and the key; never headers or secrets. */
export function s3Trouble(operation: string, key: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const failure = asFailure(error);
  const reason = EXPLANATIONS[failure.code];
  const detail = reason === undefined ? failure.message : `${reason} (${failure.message})`;
  return new StoreError(operation, `${detail} at ${JSON.stringify(key)}`, { cause: failure });
}

import { systemClock } from '../../lib/time/clock.js';
import { parseRetryAfter, type RetryRules, retryAfter } from '../../lib/time/retry.js';

/**
 * A failed request. `status` is null when S3 did not answer. Then, and after a 5xx, the request may have taken effect.
 */
export class S3Failure extends Error {
  readonly status: number | null;
  /** S3's error code, e.g. `SlowDown`, or the network's, e.g. `ECONNRESET`. */
  readonly code: string;
  /** S3's own message, or another explanation; one line. */
  readonly detail: string | null;
  /** Identifies the request in the server's logs. */
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  /** The server's clock, in milliseconds since the epoch. */
  readonly serverTime: number | null;

  constructor(
    failure: {
      status: number | null;
      code: string;
      detail?: string | null;
      requestId?: string | null;
      retryAfterMs?: number | null;
      serverTime?: number | null;
    },
    options?: { cause?: unknown },
  ) {
    super(failure.status === null ? failure.code : `${failure.status} ${failure.code}`, options);
    this.name = 'S3Failure';
    this.status = failure.status;
    this.code = failure.code;
    this.detail = failure.detail ?? null;
    this.requestId = failure.requestId ?? null;
    this.retryAfterMs = failure.retryAfterMs ?? null;
    this.serverTime = failure.serverTime ?? null;
  }
}

/** A failure without an answer of the store. */
export function noAnswer(code: string, detail: string): S3Failure {
  return new S3Failure({ status: null, code, detail });
}

const RETRYABLE_STATUSES = new Set([408, 409, 425, 429, 500, 502, 503, 504]);
/** Sent with a 400 or 403, or inside a 200. The answer RequestTimeTooSkewed corrects the clock. */
const RETRYABLE_CODES = new Set([
  'InternalError',
  'RequestTimeout',
  'RequestTimeTooSkewed',
  'ServiceUnavailable',
  'SlowDown',
]);

/** Whether another attempt makes sense: no answer, overload, an internal error, or 409 (a concurrent write). */
export function isRetryable(failure: S3Failure): boolean {
  return (
    failure.status === null || RETRYABLE_STATUSES.has(failure.status) || RETRYABLE_CODES.has(failure.code)
  );
}

/** Whether the object or upload is missing. A missing bucket is an error, not an absence. */
export function isMissing(failure: S3Failure): boolean {
  return failure.status === 404 && failure.code !== 'NoSuchBucket';
}

/** Reads the error document of a failed answer. Compatible servers leave parts of it out. */
export function failureOf(status: number, body: string, headers: Headers = {}): S3Failure {
  const code = /<Code>([A-Za-z0-9._-]{1,80})<\/Code>/.exec(body)?.[1] ?? 'no error code';
  const message = /<Message>([^<]*)<\/Message>/.exec(body)?.[1];
  const requestId = headers['x-amz-request-id'] ?? /<RequestId>([^<]*)<\/RequestId>/.exec(body)?.[1];
  return new S3Failure({
    status,
    code,
    detail: withRegion(oneLine(decodeEntities(message ?? ''), 300), headers),
    requestId: oneLine(requestId, 100),
    retryAfterMs: parseRetryAfter(headers['retry-after'], Date.now()),
    serverTime: dateOf(headers.date),
  });
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Redirects and errors about a wrong region name the right one. */
function withRegion(detail: string | null, headers: Headers): string | null {
  const region = oneLine(headers['x-amz-bucket-region'], 60);
  if (region === null) return detail;
  return `${detail === null ? '' : `${detail} `}(the bucket's region is ${region})`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  '#39': "'",
};

function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos|#39);/g, (_, name: string) => ENTITIES[name] ?? '');
}

/** Printable ASCII on one line, truncated; null for an empty text. */
function oneLine(value: unknown, length: number): string | null {
  if (typeof value !== 'string') return null;
  const text = value
    .replace(/[^\x21-\x7e]+/g, ' ')
    .trim()
    .slice(0, length);
  return text === '' ? null : text;
}

function dateOf(value: unknown): number | null {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

interface SdkError {
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
  readonly $response?: { readonly headers?: Headers };
  readonly name?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
}

/** Turns an error of the SDK or the connection pool into an `S3Failure`. */
export function asFailure(error: unknown): S3Failure {
  if (error instanceof S3Failure) return error;
  const { $metadata, $response, name, code, message } = error as SdkError;
  const status = $metadata?.httpStatusCode ?? null;
  const word = [code, name].find((candidate) => typeof candidate === 'string' && candidate !== 'Error');
  const headers = $response?.headers ?? {};
  return new S3Failure(
    {
      status,
      code: typeof word === 'string' ? word : 'unknown',
      // The SDK's name for an answer without a message.
      detail: withRegion(message === 'UnknownError' ? null : oneLine(message, 300), headers),
      requestId: oneLine($metadata?.requestId, 100),
      retryAfterMs: parseRetryAfter(headers['retry-after'], Date.now()),
    },
    { cause: error },
  );
}

/** Whether the condition of a write did not hold. MinIO answered 304 until April 2024. */
export function isConditionFailed(status: number | null): boolean {
  return status === 412 || status === 304;
}

export interface S3RetryPolicy {
  /** Further attempts after the first. */
  readonly retries: number;
  /** Upper bound of the first pause; doubles with every attempt up to `MAX_DELAY_MS`. */
  readonly delayMs: number;
  /** No attempt begins later than this after the first. After a time-out none begins that would exceed this if it timed out as well. */
  readonly deadlineMs: number;
  /** Aborted when the store is closed; then nothing is retried. */
  readonly closing?: AbortSignal;
}

const MAX_DELAY_MS = 5_000;

interface S3RetryOptions {
  /** Ends the pauses between attempts. */
  readonly signal?: AbortSignal | undefined;
  /** Which failures are retried; default `isRetryable`. */
  readonly worthwhile?: (failure: S3Failure) => boolean;
}

/**
 * Retries a request until it succeeds, fails permanently, or attempts or time are exhausted.
 *
 * @throws S3Failure of the last attempt
 */
export async function withRetries<T>(
  policy: S3RetryPolicy,
  attempt: () => Promise<T>,
  options?: S3RetryOptions,
): Promise<T> {
  const startedAt = performance.now();
  try {
    return await attempt();
  } catch (error) {
    return retryAfter(error, attempt, s3RetryRules(policy, options, startedAt)).catch((failure: unknown) => {
      throw asFailure(failure);
    });
  }
}

const TIME_OUT = /timeout|timedout/i;

/**
 * Retry rules of one request. A server's Retry-After is the minimum pause.
 *
 * @param startedAt of the first attempt, in milliseconds of `performance.now`
 */
export function s3RetryRules(
  { retries, delayMs, deadlineMs, closing }: S3RetryPolicy,
  { signal = closing, worthwhile = isRetryable }: S3RetryOptions = {},
  startedAt = performance.now(),
): RetryRules {
  const deadline = startedAt + deadlineMs;
  let begun = startedAt;
  return {
    backoff: { retries, baseDelayMs: delayMs, maxDelayMs: MAX_DELAY_MS, random: Math.random },
    pauseAfter(error, delay) {
      const failure = asFailure(error);
      if (delay === null || closing?.aborted || !worthwhile(failure)) return null;
      const pause = Math.max(delay, failure.retryAfterMs ?? 0);
      const now = performance.now();
      // After a time-out the next attempt will most likely take as long, and the sender waits for an answer.
      const expected = TIME_OUT.test(failure.code) ? now - begun : 0;
      begun = now + pause;
      return begun + expected > deadline ? null : pause;
    },
    sleep: systemClock.sleep,
    signal,
  };
}

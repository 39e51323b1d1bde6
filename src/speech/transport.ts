import { Readable } from 'node:stream';
import { type Dispatcher, request as send } from 'undici';
import { answerError } from './answer-error.js';
import type { Clock } from './clock.js';
import type { Credentials } from './credentials.js';
import { type Download, openDownload } from './download.js';
import { networkError } from './network-error.js';
import type { RateLimiter } from './rate-limiter.js';
import { isRetryable, type RetryPolicy, retryDelay } from './retry.js';
import { SpeechError } from './speech-error.js';

const JSON_LIMIT = 32 * 1024 * 1024;

/** One thing to ask of the service. */
export interface SpeechRequest {
  /** For messages and metrics, without secrets. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called once per attempt. */
  readonly body?: () => string | Buffer | AsyncIterable<Uint8Array>;
  /** False when carrying it out twice would do harm. Default true. */
  readonly repeatable?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** One attempt, for metrics and logs. */
export interface SpeechAttempt {
  readonly operation: string;
  /** From 1. */
  readonly attempt: number;
  readonly status: number | null;
  readonly durationMs: number;
  /** Null for a success. */
  readonly error: SpeechError | null;
}

export interface TransportOptions {
  readonly dispatcher: Dispatcher;
  readonly credentials: Credentials;
  readonly limiter: RateLimiter;
  readonly retry: RetryPolicy;
  readonly clock: Clock;
  /** Milliseconds to the beginning of an answer, and of silence within one. */
  readonly requestTimeout: number;
  readonly userAgent: string;
  readonly onAttempt?: ((attempt: SpeechAttempt) => void) | undefined;
}

/** Asks with credentials, rate, time-outs and retries applied. Every failure is a `SpeechError`. */
export interface Transport {
  /** The parsed JSON body; undefined for an empty one. */
  json(request: SpeechRequest): Promise<unknown>;
  /** Retries until the body begins; a body that breaks off is the caller's to ask for again. */
  download(request: SpeechRequest): Promise<Download>;
}

export function createTransport(options: TransportOptions): Transport {
  return {
    json: (request) => persist(options, request, (response) => readJson(request, response)),
    download: (request) =>
      persist(options, request, async (response) =>
        openDownload(request.operation, response, request.signal),
      ),
  };
}

type Consume<T> = (response: Dispatcher.ResponseData) => Promise<T>;

/** Tries until success, a final error, or the end of the retries. */
async function persist<T>(
  options: TransportOptions,
  request: SpeechRequest,
  consume: Consume<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const error = await attemptOnce(options, request, attempt, consume);
    if (!(error instanceof SpeechError)) return error.value;
    const delay = isRetryable(error, request.repeatable ?? true)
      ? retryDelay(error, attempt, options.retry)
      : null;
    if (delay === null) throw error;
    if (error.kind === 'rate-limited') options.limiter.pause(delay);
    await options.clock.sleep(delay, request.signal).catch((reason) => {
      throw networkError(request.operation, reason, request.signal);
    });
  }
}

async function attemptOnce<T>(
  options: TransportOptions,
  request: SpeechRequest,
  attempt: number,
  consume: Consume<T>,
): Promise<{ value: T } | SpeechError> {
  const { operation } = request;
  const began = options.clock.now();
  const report = (status: number | null, error: SpeechError | null) =>
    options.onAttempt?.({ operation, attempt, status, error, durationMs: options.clock.now() - began });
  try {
    const response = await authorised(options, request);
    const value = await consume(response);
    report(response.statusCode, null);
    return { value };
  } catch (reason) {
    const error = networkError(operation, reason, request.signal);
    report(error.status, error);
    return error;
  }
}

/** Sends, and on 401 once more with a new key where there can be one. Throws for every answer but 2xx. */
async function authorised(
  options: TransportOptions,
  request: SpeechRequest,
): Promise<Dispatcher.ResponseData> {
  const { credentials, clock } = options;
  const token = await credentials.token(request.signal);
  const response = await sendOnce(options, request, token);
  if (isSuccess(response)) return response;
  const error = await answerError(request.operation, response, token, clock);
  if (error.kind !== 'unauthorised' || !credentials.rejected(token)) throw error;
  const renewed = await credentials.token(request.signal);
  const second = await sendOnce(options, request, renewed);
  if (isSuccess(second)) return second;
  throw await answerError(request.operation, second, renewed, clock);
}

async function sendOnce(
  options: TransportOptions,
  request: SpeechRequest,
  token: string,
): Promise<Dispatcher.ResponseData> {
  await options.limiter.take(request.signal);
  return send(request.url, {
    dispatcher: options.dispatcher,
    method: request.method,
    headers: {
      accept: 'application/json, */*;q=0.5',
      // Sizes are checked against content-length, so nothing may be compressed on the way.
      'accept-encoding': 'identity',
      'user-agent': options.userAgent,
      ...request.headers,
      authorization: `Bearer ${token}`,
    },
    body: bodyOf(request),
    headersTimeout: options.requestTimeout,
    bodyTimeout: options.requestTimeout,
    ...(request.signal ? { signal: request.signal } : {}),
  });
}

function bodyOf({ body }: SpeechRequest): string | Buffer | Readable | null {
  const content = body?.() ?? null;
  if (content === null || typeof content === 'string' || Buffer.isBuffer(content)) return content;
  return Readable.from(content, { objectMode: false });
}

function isSuccess({ statusCode }: Dispatcher.ResponseData): boolean {
  return statusCode >= 200 && statusCode < 300;
}

async function readJson({ operation }: SpeechRequest, response: Dispatcher.ResponseData): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > JSON_LIMIT) throw new SpeechError('invalid-response', operation, 'the answer is far too long');
  }
  if (size === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new SpeechError('invalid-response', operation, 'the answer is not JSON', {
      status: response.statusCode,
    });
  }
}

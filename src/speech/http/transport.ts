import { setMaxListeners } from 'node:events';
import type { Dispatcher } from 'undici';
import type { Clock } from '../../lib/time/clock.js';
import { type RetryRules, retryAfter } from '../../lib/time/retry.js';
import { SpeechError } from '../speech-error.js';
import { type Download, openDownload, type Pace, slownessMeter, tooSlow } from './download.js';
import { networkError } from './network-error.js';
import type { RateLimiter } from './rate-limiter.js';
import { responseError } from './response-error.js';
import { isRetryableError, type RetryPolicy } from './retry-policy.js';

const JSON_LIMIT = 32 * 1024 * 1024;

/** One request to the service. */
export interface SpeechRequest {
  /** Name for messages and metrics, without secrets. */
  readonly operation: string;
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Supplies the bearer token of requests. */
export interface Credentials {
  token(signal?: AbortSignal): Promise<string>;
  /** Records that a token was answered with 401; true when another token may help. */
  rejected(token: string): boolean;
}

interface TransportOptions {
  readonly dispatcher: Dispatcher;
  readonly credentials: Credentials;
  readonly limiter: RateLimiter;
  readonly retry: RetryPolicy;
  /** Aborted once the clients are closed: nothing is retried any more. */
  readonly closing: AbortSignal;
  readonly clock: Clock;
  /** Milliseconds to the first byte of a response, and longest silence within one. */
  readonly requestTimeout: number;
  /** Slowest body, judged over `requestTimeout` of waiting. */
  readonly minBytesPerSecond: number;
}

export type Transport = ReturnType<typeof createTransport>;

/** Sends requests with credentials, rate limit, time-outs and retries. Every failure is a `SpeechError`. */
export function createTransport(options: TransportOptions) {
  const { closing, clock, minBytesPerSecond, requestTimeout: window } = options;
  const pace = { clock, minBytesPerSecond, window };
  const open = ({ operation, signal }: SpeechRequest, response: Dispatcher.ResponseData): Download =>
    openDownload(operation, response, pace, signal);
  const endedByClosing = (request: SpeechRequest) => ({ ...request, signal: request.signal ?? closing });
  return {
    /** The parsed JSON body; undefined for an empty one. */
    json: (request: SpeechRequest) =>
      sendWithRetries(options, endedByClosing(request), (response) => readJson(request, response, pace)),
    /**
     * Passes the download to `take`, again for each retry: a body that is truncated, stalls or is too slow is retried
     * from its beginning. An error of `take` itself is thrown unchanged.
     */
    async receive<T>(asked: SpeechRequest, take: (download: Download) => Promise<T>): Promise<T> {
      const request = endedByClosing(asked);
      const result = await sendWithRetries(options, request, (response) =>
        consumeDownload(open(request, response), take),
      );
      if ('failure' in result) throw result.failure;
      return result.value;
    },
  };
}

type Consumed<T> = { readonly value: T } | { readonly failure: unknown };

/** Rejects with errors of the service, which are retried; an error of `take` is a result, which is not. */
async function consumeDownload<T>(
  download: Download,
  take: (download: Download) => Promise<T>,
): Promise<Consumed<T>> {
  try {
    return { value: await take(download) };
  } catch (failure) {
    if (failure instanceof SpeechError) throw failure;
    return { failure };
  } finally {
    download.body.on('error', () => {}).destroy();
  }
}

type Consume<T> = (response: Dispatcher.ResponseData) => Promise<T>;

/** Sends until success, a final error, or the end of the retries. */
async function sendWithRetries<T>(
  options: TransportOptions,
  request: SpeechRequest,
  consume: Consume<T>,
): Promise<T> {
  const { operation, signal } = request;
  // Any number of requests may share one signal, each with its own listener: not a leak.
  if (signal) setMaxListeners(0, signal);
  const attempt = async () => consume(await sendAuthorised(options, request));
  try {
    return await attempt();
  } catch (error) {
    return retryAfter(error, attempt, retryRules(options, request)).catch((reason: unknown) => {
      throw networkError(operation, reason, signal);
    });
  }
}

function retryRules(
  { limiter, retry: backoff, closing, clock }: TransportOptions,
  { operation, signal }: SpeechRequest,
): RetryRules {
  return {
    backoff,
    pauseAfter(reason, backoffMs) {
      const error = networkError(operation, reason, signal);
      const delay = !closing.aborted && isRetryableError(error) ? backoffMs : null;
      const mayWait = applyPause(limiter, error, delay);
      if (delay === null || !mayWait) return null;
      // The limiter delays the next attempt for as long as the service asks.
      return (error.retryAfterMs ?? 0) >= delay ? 0 : delay;
    },
    sleep: clock.sleep,
    signal,
  };
}

/** A Retry-After of one request applies to its whole region. False when the pause is too long to wait for. */
function applyPause(limiter: RateLimiter, error: SpeechError, delay: number | null): boolean {
  if (error.kind === 'paused') return false;
  const pause = error.retryAfterMs ?? (error.kind === 'rate-limited' ? delay : null);
  return pause === null || limiter.pause(pause);
}

/** Sends, and retries a 401 while the credentials have another key. Throws unless the response is 2xx. */
async function sendAuthorised(
  options: TransportOptions,
  request: SpeechRequest,
): Promise<Dispatcher.ResponseData> {
  const { credentials, clock } = options;
  for (;;) {
    const token = await credentials.token(request.signal);
    const response = await sendOnce(options, request, token);
    if (isSuccess(response)) {
      options.limiter.succeeded();
      return response;
    }
    const error = await responseError(request.operation, response, token, clock);
    if (error.kind !== 'unauthorised' || !credentials.rejected(token)) throw error;
  }
}

async function sendOnce(
  options: TransportOptions,
  request: SpeechRequest,
  token: string,
): Promise<Dispatcher.ResponseData> {
  await options.limiter.take(request.operation, request.signal);
  const { origin, pathname, search } = new URL(request.url);
  return options.dispatcher.request({
    origin,
    path: pathname + search,
    method: request.method,
    headers: {
      accept: 'application/json, */*;q=0.5',
      // Sizes are checked against content-length, so the body must not be compressed.
      'accept-encoding': 'identity',
      'user-agent': 'transcript-receiver',
      ...request.headers,
      authorization: `Bearer ${token}`,
    },
    body: request.body ?? null,
    headersTimeout: options.requestTimeout,
    bodyTimeout: options.requestTimeout,
    ...(request.signal ? { signal: request.signal } : {}),
  });
}

function isSuccess({ statusCode }: Dispatcher.ResponseData): boolean {
  return statusCode >= 200 && statusCode < 300;
}

async function readJson(
  { operation }: SpeechRequest,
  response: Dispatcher.ResponseData,
  pace: Pace,
): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  const isTooSlow = slownessMeter(pace);
  let asked = pace.clock.now();
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    const now = pace.clock.now();
    if (isTooSlow(now - asked, chunk.length)) throw new SpeechError('timeout', operation, tooSlow(pace));
    asked = now;
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

import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { Pool } from 'undici';
import type { CreateResult, ReadPurpose } from '../../object-store.js';
import type { BucketAddress, S3Limits } from '../s3-client.js';
import { failureOf, S3Failure } from '../s3-failure.js';
import type { S3Settings } from '../s3-options.js';
import type { AnswerCheck } from './answer-check.js';
import { createExchangePool, exchange, openExchange, type WholeAnswer } from './exchange.js';
import { EXPECTED_OWNER, type HeaderLines } from './object-headers.js';
import { createS3Signer } from './s3-signer.js';
import { createServerClock } from './server-clock.js';

/** A PUT of a body that is in memory. */
export interface SignedPut {
  /** Whole key, prefix included, not encoded. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  /** All are signed; `x-amz-content-sha256` has to be among them. */
  readonly headers: HeaderLines;
  readonly body: Buffer;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** A GET whose answer is a stream. */
export interface SignedGet {
  /** Whole key, prefix included, not encoded. */
  readonly key: string;
  /** All are signed. */
  readonly headers: HeaderLines;
  /** Milliseconds to the beginning of the answer. */
  readonly timeoutMs: number;
  /** Longest silence within its body, in milliseconds. */
  readonly idleMs: number;
  readonly purpose: ReadPurpose;
}

/** A HEAD. */
export interface SignedHead {
  /** Whole key, prefix included, not encoded. */
  readonly key: string;
  readonly timeoutMs: number;
}

export interface OpenAnswer {
  readonly headers: IncomingHttpHeaders;
  /** To be consumed or destroyed. */
  readonly body: Readable;
}

/**
 * Sends and fetches bodies without the SDK's command layer, which costs ten times the CPU of a signed request over a
 * pooled connection. Credentials and address are the SDK's own.
 */
export interface S3Sender {
  readonly secure: boolean;
  /**
   * Makes one attempt, and another when the server's clock differs.
   *
   * @throws S3Failure for an answer that is not a success or not the store's; errors of the connection as they are
   */
  put(operation: 'PutObject' | 'UploadPart', request: SignedPut): Promise<IncomingHttpHeaders>;
  /** PutObject with `If-None-Match: *`, as `put` does it. A 412 is no failure: an error with its stack would cost more. */
  putIfAbsent(request: SignedPut): Promise<CreateResult>;
  /** Makes one attempt, as `put` does. */
  get(request: SignedGet): Promise<OpenAnswer>;
  /** Makes one attempt, as `put` does. */
  head(request: SignedHead): Promise<IncomingHttpHeaders>;
  close(): Promise<void>;
}

export interface S3SenderParts {
  readonly client: S3Client;
  readonly address: BucketAddress;
  readonly limits: S3Limits;
  readonly answers: AnswerCheck;
  readonly settings: Pick<S3Settings, 'expectedBucketOwner'>;
  readonly onNotice: ((message: string) => void) | undefined;
}

/** SHA-256 of an empty body. */
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Milliseconds that an idle connection is kept; most servers close theirs after 5 to 60 seconds. */
const KEEP_ALIVE_MS = 4_000;

export function createS3Sender(parts: S3SenderParts): S3Sender {
  const { client, address, limits, answers, onNotice } = parts;
  const options = {
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { timeout: limits.connectTimeoutMs },
  };
  const connections = limits.maxSockets;
  const pools = {
    write: createExchangePool(address.origin, { ...options, connections }),
    own: new Pool(address.origin, { ...options, connections }),
    // Commits wait for heads, which must not wait for long reads.
    head: new Pool(address.origin, { ...options, connections }),
    // Bounded by the callers: a bound here would make some downloads wait behind paused ones.
    download: new Pool(address.origin, options),
  };
  const lines = linesOfEvery(address, parts.settings);
  const linesOfBare = lines.concat('x-amz-content-sha256', EMPTY_SHA256);
  const signer = createS3Signer(address.region);
  const clock = createServerClock(onNotice);

  /** @param expected a status that is no failure */
  async function send(
    operation: 'PutObject' | 'UploadPart',
    { key, query, body, timeoutMs, headers, signal }: SignedPut,
    expected = 200,
  ): Promise<WholeAnswer> {
    const path = address.path + encodeKey(key);
    const pairs = encodedQuery(query);
    const holder = await client.config.credentials();
    const unsigned = { method: 'PUT', path, query: pairs, headers: headers.concat(lines) };
    return clock.withServerTime(async (now) => {
      const request = {
        method: 'PUT' as const,
        path: pairs.length === 0 ? path : `${path}?${pairs.join('&')}`,
        headers: signer.sign(unsigned, holder, now),
        body,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      };
      const answer = await exchange(pools.write, request, { queueMs: timeoutMs, signal });
      answers.check(operation, answer);
      const { status, text, headers: found } = answer;
      if (status !== 200 && status !== expected) throw failureOf(status, text, found);
      return answer;
    });
  }

  async function putIfAbsent(request: SignedPut): Promise<CreateResult> {
    const headers = request.headers.concat('if-none-match', '*');
    const { status } = await send('PutObject', { ...request, headers }, 412);
    return status === 412 ? 'exists' : 'created';
  }

  /** A signed request without a body. */
  async function bare<Method extends 'GET' | 'HEAD'>(method: Method, key: string, headers: HeaderLines) {
    const path = address.path + encodeKey(key);
    const unsigned = { method, path, query: NO_QUERY, headers: headers.concat(linesOfBare) };
    const holder = await client.config.credentials();
    return (now: Date) => ({ method, path, headers: signer.sign(unsigned, holder, now) });
  }

  async function head({ key, timeoutMs }: SignedHead): Promise<IncomingHttpHeaders> {
    const signedAt = await bare('HEAD', key, []);
    return clock.withServerTime(async (now) => {
      const request = {
        ...signedAt(now),
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
        // undici would close the connection, in case a server sends a body all the same; that ends in a parse error.
        reset: false,
      };
      const { status, headers } = await exchange(pools.head, request, { queueMs: timeoutMs });
      answers.check('HeadObject', { status, headers, text: null });
      if (status !== 200) throw headFailure(status, headers, now);
      return headers;
    });
  }

  async function get({ key, headers, timeoutMs, idleMs, purpose }: SignedGet): Promise<OpenAnswer> {
    const signedAt = await bare('GET', key, headers);
    return clock.withServerTime(async (now) => {
      const request = { ...signedAt(now), headersTimeout: timeoutMs, bodyTimeout: idleMs };
      const response = await openExchange(pools[purpose], request, limits.connectTimeoutMs + timeoutMs);
      const { statusCode: status, headers: found, body } = response;
      const succeeded = status >= 200 && status <= 299;
      const text = succeeded ? null : await failureText(body);
      try {
        answers.check('GetObject', { status, headers: found, text });
      } catch (error) {
        body.on('error', () => undefined).destroy();
        throw error;
      }
      if (text !== null) throw failureOf(status, text, found);
      return response;
    });
  }

  return {
    secure: address.origin.startsWith('https:'),
    put: async (operation, request) => (await send(operation, request)).headers,
    putIfAbsent,
    get,
    head,
    close: async () => {
      await Promise.all(
        Object.values(pools)
          .filter((each) => !each.destroyed)
          .map((each) => each.destroy()),
      );
    },
  };
}

function linesOfEvery(
  { host }: BucketAddress,
  { expectedBucketOwner: owner }: S3SenderParts['settings'],
): HeaderLines {
  return owner ? ['host', host, EXPECTED_OWNER, owner] : ['host', host];
}

/** S3 rejects requests signed further from its own time than this, in milliseconds. */
const MAX_SKEW_MS = 15 * 60_000;

/** An answer to HEAD has no error document: whether the clock was the reason for a rejection shows its date alone. */
function headFailure(status: number, headers: IncomingHttpHeaders, signedAt: Date): S3Failure {
  const failure = failureOf(status, '', headers);
  const { serverTime } = failure;
  const isSkewed = serverTime !== null && Math.abs(serverTime - signedAt.getTime()) > MAX_SKEW_MS;
  return status === 403 && isSkewed ? new S3Failure({ ...failure, code: 'RequestTimeTooSkewed' }) : failure;
}

const MAX_FAILURE_BYTES = 64 * 1024;

async function failureText(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_FAILURE_BYTES) break;
  }
  return Buffer.concat(chunks).toString();
}

const NO_QUERY: readonly string[] = [];

/** As the signature needs it: percent-encoded UTF-8 except for unreserved characters and `/`. */
function encodeKey(key: string): string {
  return /^[A-Za-z0-9_.~/-]*$/.test(key) ? key : key.split('/').map(encodeSegment).join('/');
}

function encodeSegment(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function encodedQuery(query: Readonly<Record<string, string>> | undefined): readonly string[] {
  if (query === undefined) return NO_QUERY;
  return Object.entries(query).map(([name, value]) => `${encodeSegment(name)}=${encodeSegment(value)}`);
}

import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { Pool } from 'undici';
import type { ReadPurpose } from '../../object-store.js';
import type { BucketAddress, S3Limits } from '../s3-client.js';
import { failureOf } from '../s3-failure.js';
import type { S3Settings } from '../s3-options.js';
import type { AnswerCheck } from './answer-check.js';
import { createExchangePool, exchange, openExchange } from './exchange.js';
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
  /** Makes one attempt, as `put` does. */
  get(request: SignedGet): Promise<OpenAnswer>;
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
    // Bounded by the callers: a bound here would make some downloads wait behind paused ones.
    download: new Pool(address.origin, options),
  };
  const lines = linesOfEvery(address, parts.settings);
  const linesOfGet = lines.concat('x-amz-content-sha256', EMPTY_SHA256);
  const signer = createS3Signer(address.region);
  const clock = createServerClock(onNotice);

  async function put(
    operation: 'PutObject' | 'UploadPart',
    { key, query, body, timeoutMs, headers, signal }: SignedPut,
  ): Promise<IncomingHttpHeaders> {
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
      if (answer.status !== 200) throw failureOf(answer.status, answer.text, answer.headers);
      return answer.headers;
    });
  }

  async function get({ key, headers, timeoutMs, idleMs, purpose }: SignedGet): Promise<OpenAnswer> {
    const path = address.path + encodeKey(key);
    const unsigned = { method: 'GET', path, query: NO_QUERY, headers: headers.concat(linesOfGet) };
    const holder = await client.config.credentials();
    return clock.withServerTime(async (now) => {
      const request = {
        method: 'GET' as const,
        path,
        headers: signer.sign(unsigned, holder, now),
        headersTimeout: timeoutMs,
        bodyTimeout: idleMs,
      };
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
    put,
    get,
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

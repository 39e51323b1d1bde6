import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { Pool } from 'undici';
import type { BucketAddress, S3Limits } from './s3-client.js';
import { asFailure, failureOf, S3Failure } from './s3-errors.js';
import { exchange } from './s3-exchange.js';
import type { HeaderLines } from './s3-headers.js';
import { createS3Signer, type SigningKeyHolder } from './s3-signature.js';

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
}

export interface OpenAnswer {
  readonly headers: ResponseHeaders;
  /** To be consumed or destroyed. */
  readonly body: Readable;
}

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Sends and fetches bodies past the SDK's command layer, which costs ten times the CPU of a signed request over a pooled
 * connection. Credentials and address are the SDK's own.
 */
export interface S3Sender {
  readonly secure: boolean;
  /** One attempt. @throws S3Failure for an answer that is none of success; what the connection throws, as it is */
  put(request: SignedPut): Promise<ResponseHeaders>;
  /** One attempt, with the errors of `put`; connections of its own, so that slow readers hold up no write. */
  get(request: SignedGet): Promise<OpenAnswer>;
  close(): Promise<void>;
}

/** SHA-256 of nothing, which a request without a body is signed with. */
const NO_BODY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Milliseconds an unused connection is kept; most servers close theirs after 5 to 60 seconds. */
const KEEP_ALIVE_MS = 4_000;

export function createS3Sender(client: S3Client, address: BucketAddress, limits: S3Limits): S3Sender {
  const options = {
    connections: limits.maxSockets,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { timeout: limits.connectTimeoutMs },
  };
  const pool = new Pool(address.origin, options);
  const readers = new Pool(address.origin, options);
  const signer = createS3Signer(address.region);

  /** A provider's failure is no answer of S3, whatever status it had itself: it is told as none, and tried again. */
  async function signingKey(): Promise<SigningKeyHolder> {
    try {
      return await client.config.credentials();
    } catch (error) {
      const { code } = asFailure(error);
      throw new S3Failure({ status: null, code }, { cause: error });
    }
  }

  async function put({ key, query, body, timeoutMs, headers, signal }: SignedPut): Promise<ResponseHeaders> {
    const path = address.path + encodeKey(key);
    const pairs = encodedQuery(query);
    const holder = await signingKey();
    const unsigned = { method: 'PUT', path, query: pairs, headers: headers.concat('host', address.host) };
    const request = {
      method: 'PUT' as const,
      path: pairs.length === 0 ? path : `${path}?${pairs.join('&')}`,
      headers: signer.sign(unsigned, holder, new Date()),
      body,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    };
    const answer = await exchange(pool, request, signal);
    // A 200 can carry an error: the status was sent before the work was done.
    if (answer.status !== 200 || answer.text.includes('<Error'))
      throw failureOf(answer.status, answer.text, answer.headers);
    return answer.headers;
  }

  async function get({ key, headers, timeoutMs, idleMs }: SignedGet): Promise<OpenAnswer> {
    const path = address.path + encodeKey(key);
    const lines = headers.concat('host', address.host, 'x-amz-content-sha256', NO_BODY);
    const holder = await signingKey();
    const response = await readers.request({
      method: 'GET',
      path,
      headers: signer.sign({ method: 'GET', path, query: [], headers: lines }, holder, new Date()),
      headersTimeout: timeoutMs,
      bodyTimeout: idleMs,
    });
    if (response.statusCode === 200 || response.statusCode === 206) return response;
    throw failureOf(response.statusCode, await response.body.text(), response.headers);
  }

  return {
    secure: address.origin.startsWith('https:'),
    put,
    get,
    close: async () => {
      await Promise.all([pool, readers].filter((each) => !each.destroyed).map((each) => each.destroy()));
    },
  };
}

const NO_QUERY: readonly string[] = [];

/** As the signature wants it: everything but unreserved characters as UTF-8 in percent signs, `/` kept. */
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

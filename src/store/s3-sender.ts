import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { Pool } from 'undici';
import type { BucketAddress, S3Limits } from './s3-client.js';
import { failureOf, S3Failure } from './s3-errors.js';
import { createS3Signer } from './s3-signature.js';

/** A PUT of a body that is in memory. */
export interface SignedPut {
  /** Whole key, prefix included, not encoded. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Lower-case names; all are signed. `x-amz-content-sha256` has to be among them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** A GET whose answer is a stream. */
export interface SignedGet {
  /** Whole key, prefix included, not encoded. */
  readonly key: string;
  /** Lower-case names; all are signed. */
  readonly headers: Readonly<Record<string, string>>;
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
  /** One attempt. @throws S3Failure */
  put(request: SignedPut): Promise<ResponseHeaders>;
  /** One attempt; connections of its own, so that slow readers hold up no write. @throws S3Failure */
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

  async function put(request: SignedPut): Promise<ResponseHeaders> {
    const path = address.path + encodeKey(request.key);
    const query = encodedQuery(request.query);
    const headers = { ...request.headers, host: address.host };
    const holder = await client.config.credentials();
    const response = await pool.request({
      method: 'PUT',
      path: query.length === 0 ? path : `${path}?${query.join('&')}`,
      headers: signer.sign({ method: 'PUT', path, query, headers }, holder, new Date()),
      body: request.body,
      headersTimeout: request.timeoutMs,
      bodyTimeout: request.timeoutMs,
      signal: request.signal ?? null,
    });
    const text = await response.body.text();
    // A 200 can carry an error: the status was sent before the work was done.
    if (response.statusCode !== 200 || text.includes('<Error'))
      throw failureOf(response.statusCode, text, response.headers);
    return response.headers;
  }

  async function get(request: SignedGet): Promise<OpenAnswer> {
    const path = address.path + encodeKey(request.key);
    const headers = { ...request.headers, host: address.host, 'x-amz-content-sha256': NO_BODY };
    const holder = await client.config.credentials();
    const response = await readers.request({
      method: 'GET',
      path,
      headers: signer.sign({ method: 'GET', path, query: [], headers }, holder, new Date()),
      headersTimeout: request.timeoutMs,
      bodyTimeout: request.idleMs,
    });
    if (response.statusCode === 200 || response.statusCode === 206) return response;
    throw failureOf(response.statusCode, await response.body.text(), response.headers);
  }

  return {
    secure: address.origin.startsWith('https:'),
    put: (request) => put(request).catch(rethrowAsFailure),
    get: (request) => get(request).catch(rethrowAsFailure),
    close: async () => {
      await Promise.all([pool, readers].filter((each) => !each.destroyed).map((each) => each.destroy()));
    },
  };
}

function rethrowAsFailure(error: unknown): never {
  if (error instanceof S3Failure) throw error;
  const { code, name } = error as { code?: unknown; name?: unknown };
  const word = typeof code === 'string' ? code : String(name);
  throw new S3Failure({ status: null, code: word }, { cause: error });
}

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

function encodedQuery(query: Readonly<Record<string, string>> | undefined): string[] {
  if (query === undefined) return [];
  return Object.entries(query).map(([name, value]) => `${encodeSegment(name)}=${encodeSegment(value)}`);
}

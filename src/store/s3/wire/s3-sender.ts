import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { buildConnector, Pool } from 'undici';
import { readBeginning } from '../../../lib/text/read-beginning.js';
import { retryAfter } from '../../../lib/time/retry.js';
import type { ReadPurpose } from '../../object-store.js';
import type { CredentialRenewal } from '../renew-credentials.js';
import type { BucketAddress, S3Limits } from '../s3-client.js';
import { asFailure, failureOf, isConditionFailed, S3Failure, s3RetryRules } from '../s3-failure.js';
import type { S3Settings } from '../s3-options.js';
import { type AnswerCheck, DoubtfulAnswer } from './answer-check.js';
import { Exchange, openExchange, type WholeAnswer, type WireRequest } from './exchange.js';
import { EXPECTED_OWNER, type SentHeaders } from './object-headers.js';
import {
  createS3Signer,
  createServerClock,
  encodedQuery,
  encodeKey,
  type SigningKeyHolder,
} from './s3-signer.js';
import { openPool } from './store-pool.js';

/** A PUT of a body that is in memory. */
export interface SignedPut {
  readonly operation: 'PutObject' | 'UploadPart';
  /** Whole key, prefix included, not encoded. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  /** With `x-amz-content-sha256`; all are signed. Host, condition, date and signature are added to them. */
  readonly headers: Record<string, string>;
  readonly body: Buffer;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Adds `If-None-Match: *`. */
  readonly ifAbsent?: boolean;
}

/** A GET whose answer is a stream. */
interface SignedGet {
  /** Whole key, prefix included, not encoded. */
  readonly key: string;
  /** All are signed. */
  readonly headers: SentHeaders;
  /** Milliseconds to the beginning of the answer. */
  readonly timeoutMs: number;
  /** Longest silence within its body, in milliseconds. */
  readonly idleMs: number;
  readonly purpose: ReadPurpose;
}

/** A HEAD. */
interface SignedHead {
  /** Whole key, prefix included, not encoded. */
  readonly key: string;
  readonly timeoutMs: number;
}

interface OpenAnswer {
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
   * Repeats a request that fails (`s3RetryRules`), with other credentials where the store refused those it had. Every attempt has the
   * condition.
   *
   * @returns the answer: a 200 or 201; any other one says that the condition of a request with `ifAbsent` did not hold
   * @throws S3Failure of the last attempt
   */
  put(request: SignedPut): Promise<WholeAnswer>;
  /** As `put` does. */
  get(request: SignedGet): Promise<OpenAnswer>;
  /** As `put` does; null when there is no such object. */
  head(request: SignedHead): Promise<IncomingHttpHeaders | null>;
  /** Milliseconds by which the server's clock was ahead of this machine's at its last answer. */
  clockOffset(): number;
  close(): Promise<void>;
}

interface S3SenderParts {
  readonly client: S3Client;
  /** The configured keys; without them the client is asked for each request. */
  readonly keys: SigningKeyHolder | null;
  readonly renewal: CredentialRenewal;
  readonly address: BucketAddress;
  readonly limits: S3Limits;
  readonly answers: AnswerCheck;
  readonly settings: Pick<S3Settings, 'expectedBucketOwner'>;
  readonly onNotice: ((message: string) => void) | undefined;
  readonly connect: buildConnector.connector;
}

type Attempt<Request, Answer> = (holder: SigningKeyHolder, request: Request) => Promise<Answer>;

/** SHA-256 of an empty body. */
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export function createS3Sender(parts: S3SenderParts): S3Sender {
  const { client, keys, renewal, address, limits, answers, onNotice, connect } = parts;
  const { origin } = address;
  const pools = {
    write: openPool(origin, limits.maxSockets, connect),
    // Commits wait for heads, which must not wait for long writes.
    head: openPool(origin, limits.maxSockets, connect),
    own: openPool(origin, limits.maxSockets, connect),
    // Bounded by the callers: a bound here would make some downloads wait behind paused ones.
    download: openPool(origin, null, connect),
  };
  const owner = parts.settings.expectedBucketOwner;
  const common = { host: address.host, ...(owner && { [EXPECTED_OWNER]: owner }) };
  const signer = createS3Signer(address.region);
  const clock = createServerClock(onNotice);

  /** Sends until it succeeds or is not worth another attempt. Most succeed at once, and those need no rules. */
  async function sent<Request, Answer>(
    attempt: Attempt<Request, Answer>,
    request: Request,
    signal?: AbortSignal,
  ): Promise<Answer> {
    const startedAt = performance.now();
    try {
      return await once(attempt, request);
    } catch (error) {
      const rules = s3RetryRules(limits.retry, signal === undefined ? {} : { signal }, startedAt);
      return await retryAfter(error, () => once(attempt, request), rules).catch((failure: unknown) => {
        throw asFailure(failure);
      });
    }
  }

  function once<Request, Answer>(attempt: Attempt<Request, Answer>, request: Request): Promise<Answer> {
    return keys === null ? renewed(attempt, request) : attempt(keys, request);
  }

  /** Sends once, and once more where the store refuses the credentials and there are others. */
  async function renewed<Request, Answer>(
    attempt: Attempt<Request, Answer>,
    request: Request,
  ): Promise<Answer> {
    const holder = await client.config.credentials();
    try {
      return await attempt(holder, request);
    } catch (error) {
      const others = await renewal.after(error, holder);
      if (others === null) throw error;
      return attempt(others, request);
    }
  }

  async function putWith(holder: SigningKeyHolder, put: SignedPut): Promise<WholeAnswer> {
    const { offset } = clock;
    const now = new Date(Date.now() + offset);
    const path = address.path + encodeKey(put.key);
    const query = encodedQuery(put.query ?? {});
    const condition = put.ifAbsent === true ? { 'if-none-match': '*' } : {};
    const headers = Object.assign(put.headers, common, condition);
    const answer = await send(pools.write, {
      method: 'PUT',
      path: query.length === 0 ? path : `${path}?${query.join('&')}`,
      headers: signer.sign({ method: 'PUT', path, query, headers }, holder, now),
      body: put.body,
      timeoutMs: put.timeoutMs,
      signal: put.signal,
    });
    try {
      answers.check(put.operation, answer);
    } catch (error) {
      if (!(error instanceof DoubtfulAnswer) || !(await isStored(holder, put, answer))) throw error;
      answers.acceptUnidentified();
    }
    const { status } = answer;
    clock.observe(answer.headers.date);
    if (status === 200 || status === 201 || (put.ifAbsent === true && isConditionFailed(status)))
      return answer;
    throw clock.corrected(failureOf(status, answer.text, answer.headers), offset);
  }

  /** Whether the object has the size of the body and the ETag of the answer, which only the store can know before. */
  async function isStored(
    holder: SigningKeyHolder,
    { operation, key, body, timeoutMs }: SignedPut,
    answer: WholeAnswer,
  ) {
    if (operation !== 'PutObject') return false;
    const headers = await headWith(holder, { key, timeoutMs }).catch((error: unknown) =>
      error instanceof DoubtfulAnswer ? error.answer.headers : null,
    );
    return headers?.etag === answer.headers.etag && headers?.['content-length'] === `${body.length}`;
  }

  /** A signed request without a body. */
  function bare<Method extends 'GET' | 'HEAD'>(
    method: Method,
    key: string,
    given: SentHeaders,
    holder: SigningKeyHolder,
    now: Date,
  ) {
    const path = address.path + encodeKey(key);
    const headers = { ...given, ...common, 'x-amz-content-sha256': EMPTY_SHA256 };
    return { method, path, headers: signer.sign({ method, path, query: [], headers }, holder, now) };
  }

  async function headWith(
    holder: SigningKeyHolder,
    { key, timeoutMs }: SignedHead,
  ): Promise<IncomingHttpHeaders | null> {
    const { offset } = clock;
    const now = new Date(Date.now() + offset);
    const request = { ...bare('HEAD', key, {}, holder, now), body: null, timeoutMs };
    const { status, headers } = await send(pools.head, request);
    answers.check('HeadObject', { status, headers, text: null });
    clock.observe(headers.date);
    if (status === 404) return null;
    if (status !== 200) throw clock.corrected(headFailure(status, headers, now), offset);
    return headers;
  }

  async function getWith(
    holder: SigningKeyHolder,
    { key, headers, timeoutMs, idleMs, purpose }: SignedGet,
  ): Promise<OpenAnswer> {
    const { offset } = clock;
    const now = new Date(Date.now() + offset);
    const timeouts = { headersTimeout: timeoutMs, bodyTimeout: idleMs };
    const request = { ...bare('GET', key, headers, holder, now), ...timeouts };
    const response = await openExchange(pools[purpose], request, limits.connectTimeoutMs + timeoutMs);
    const { statusCode: status, headers: found, body } = response;
    const succeeded = status >= 200 && status <= 299;
    const text = succeeded ? null : String(await readBeginning(body, MAX_FAILURE_BYTES));
    try {
      answers.check('GetObject', { status, headers: found, text });
    } catch (error) {
      body.on('error', () => undefined).destroy();
      throw error;
    }
    clock.observe(found.date as string | undefined);
    if (text !== null) throw clock.corrected(failureOf(status, text, found), offset);
    return response;
  }

  return {
    secure: address.origin.startsWith('https:'),
    put: (request) => sent(putWith, request, request.signal),
    get: (request) => sent(getWith, request),
    head: (request) => sent(headWith, request),
    clockOffset: () => clock.ahead,
    close: async () => {
      await Promise.all(
        Object.values(pools)
          .filter((each) => !each.destroyed)
          .map((each) => each.destroy()),
      );
    },
  };
}

function send(pool: Pool, request: WireRequest): Promise<WholeAnswer> {
  const exchange = new Exchange(request);
  pool.dispatch(exchange.options, exchange);
  return exchange.answer;
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

import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { buildConnector, Pool } from 'undici';
import { SMALL_BODY } from '../../../lib/memory/fill-rate.js';
import { readBeginning } from '../../../lib/text/read-beginning.js';
import { retryAfter } from '../../../lib/time/retry.js';
import type { ReadPurpose } from '../../object-store.js';
import { CredentialChain } from '../credential-chain.js';
import type { BucketAddress, S3Limits } from '../s3-client.js';
import { asFailure, failureOf, isConditionFailed, S3Failure, s3RetryRules } from '../s3-failure.js';
import type { S3Settings } from '../s3-options.js';
import { type AnswerCheck, DoubtfulAnswer } from './answer-check.js';
import { Exchange, openExchange, type WholeAnswer, type WireRequest } from './exchange.js';
import { EXPECTED_OWNER, type SentHeaders } from './object-headers.js';
import {
  createS3Signer,
  encodedQuery,
  encodeKey,
  type ServerClock,
  type SigningKeyHolder,
} from './s3-signer.js';
import { openPool } from './store-pool.js';

/** A PUT of a body that is in memory. */
export interface SignedPut {
  readonly operation: 'PutObject' | 'UploadPart';
  /** Whole key, prefix included, not encoded. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Must include `x-amz-content-sha256`; all are signed. Host, condition, date and signature are added to this object. */
  readonly headers: Record<string, string>;
  readonly body: Buffer;
  readonly signal?: AbortSignal;
  /** Adds `If-None-Match: *`. */
  readonly ifAbsent?: boolean;
}

/** A GET whose answer is a stream. */
interface SignedGet {
  /** Whole key, prefix included, not encoded. */
  readonly key: string;
  readonly headers: SentHeaders;
  /** Milliseconds to the beginning of the answer. */
  readonly timeoutMs: number;
  /** Longest pause within the body, in milliseconds. */
  readonly idleMs: number;
  readonly purpose: ReadPurpose;
}

interface SignedHead {
  /** Whole key, prefix included, not encoded. */
  readonly key: string;
  readonly timeoutMs: number;
}

interface OpenAnswer {
  readonly headers: IncomingHttpHeaders;
  /** The caller consumes or destroys it. */
  readonly body: Readable;
}

interface S3SenderParts {
  readonly credentials: SigningKeyHolder | CredentialChain;
  readonly address: BucketAddress;
  readonly limits: S3Limits;
  readonly answers: AnswerCheck;
  readonly settings: Pick<S3Settings, 'expectedBucketOwner'>;
  readonly clock: ServerClock;
  readonly connect: buildConnector.connector;
}

/** One request, signed with these credentials. */
type Attempt<Answer> = (holder: SigningKeyHolder) => Promise<Answer>;

/** SHA-256 of an empty body. */
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/**
 * Sends and fetches bodies without the SDK's command layer, which costs ten times the CPU of a signed request over a
 * pooled connection. Credentials and address come from the SDK.
 */
export class S3Sender {
  readonly secure: boolean;
  readonly #credentials: SigningKeyHolder | CredentialChain;
  readonly #address: BucketAddress;
  readonly #limits: S3Limits;
  readonly #answers: AnswerCheck;
  readonly #pools: Readonly<Record<'write' | 'head' | ReadPurpose, Pool>>;
  /** Headers of every request. */
  readonly #common: SentHeaders;
  readonly #signer: ReturnType<typeof createS3Signer>;
  readonly #clock: ServerClock;

  constructor(parts: S3SenderParts) {
    const { address, limits, settings, connect } = parts;
    const { origin, host, region } = address;
    const owner = settings.expectedBucketOwner;
    this.secure = origin.startsWith('https:');
    this.#credentials = parts.credentials;
    this.#address = address;
    this.#limits = limits;
    this.#answers = parts.answers;
    this.#pools = {
      write: openPool(origin, limits.maxSockets, connect),
      // Separate, because commits wait for heads, which must not wait for long writes.
      head: openPool(origin, limits.maxSockets, connect),
      own: openPool(origin, limits.maxSockets, connect),
      // Bounded by the callers: a bound here would make downloads wait for paused ones.
      download: openPool(origin, null, connect),
    };
    this.#common = { host, ...(owner && { [EXPECTED_OWNER]: owner }) };
    this.#signer = createS3Signer(region);
    this.#clock = parts.clock;
  }

  /**
   * Retries a failed request (`s3RetryRules`), with other credentials when the store refused the first ones. Every attempt has the
   * condition.
   *
   * @returns an answer with 200 or 201; any other status means that the condition of `ifAbsent` did not hold
   * @throws S3Failure of the last attempt
   */
  put(request: SignedPut): Promise<WholeAnswer> {
    return this.#repeat((holder) => this.#put(holder, request), request.signal);
  }

  /** Retries like `put`. */
  get(request: SignedGet): Promise<OpenAnswer> {
    return this.#repeat((holder) => this.#get(holder, request));
  }

  /** Retries like `put`; null when there is no such object. */
  head(request: SignedHead): Promise<IncomingHttpHeaders | null> {
    return this.#repeat((holder) => this.#head(holder, request));
  }

  async close(): Promise<void> {
    const open = Object.values(this.#pools).filter((each) => !each.destroyed);
    await Promise.all(open.map((each) => each.destroy()));
  }

  /** Sends until an attempt succeeds or retrying is useless. The rules are created only after a failure, because most attempts succeed. */
  async #repeat<Answer>(attempt: Attempt<Answer>, signal?: AbortSignal): Promise<Answer> {
    const startedAt = performance.now();
    try {
      return await this.#once(attempt);
    } catch (error) {
      const rules = s3RetryRules(this.#limits.retry, signal === undefined ? {} : { signal }, startedAt);
      return await retryAfter(error, () => this.#once(attempt), rules).catch((failure: unknown) => {
        throw asFailure(failure);
      });
    }
  }

  #once<Answer>(attempt: Attempt<Answer>): Promise<Answer> {
    const credentials = this.#credentials;
    return credentials instanceof CredentialChain ? credentials.use(attempt) : attempt(credentials);
  }

  async #put(holder: SigningKeyHolder, put: SignedPut): Promise<WholeAnswer> {
    const { offset } = this.#clock;
    const now = new Date(Date.now() + offset);
    const path = this.#address.path + encodeKey(put.key);
    const query = encodedQuery(put.query ?? {});
    const condition = put.ifAbsent === true ? { 'if-none-match': '*' } : {};
    const headers = Object.assign(put.headers, this.#common, condition);
    const { requestTimeoutMs, partTimeoutMs } = this.#limits;
    const isLarge = put.body.length > SMALL_BODY;
    const answer = await send(this.#pools.write, {
      method: 'PUT',
      path: query.length === 0 ? path : `${path}?${query.join('&')}`,
      headers: this.#signer.sign({ method: 'PUT', path, query, headers }, holder, now),
      body: put.body,
      timeoutMs: isLarge ? partTimeoutMs : requestTimeoutMs,
      ...(isLarge && { stallMs: requestTimeoutMs }),
      signal: put.signal,
    });
    try {
      this.#answers.check(put.operation, answer);
    } catch (error) {
      if (!(error instanceof DoubtfulAnswer) || !(await this.#isStored(holder, put, answer))) throw error;
      this.#answers.acceptUnidentified();
    }
    const { status } = answer;
    if (status === 200 || status === 201 || (put.ifAbsent === true && isConditionFailed(status)))
      return answer;
    throw this.#clock.corrected(failureOf(status, answer.text, answer.headers), offset);
  }

  /** Whether the object has the size of the body and the ETag of the answer, which only the store can have known. */
  async #isStored(holder: SigningKeyHolder, { operation, key, body }: SignedPut, answer: WholeAnswer) {
    if (operation !== 'PutObject') return false;
    const head = { key, timeoutMs: this.#limits.requestTimeoutMs };
    const headers = await this.#head(holder, head).catch((error: unknown) =>
      error instanceof DoubtfulAnswer ? error.answer.headers : null,
    );
    return headers?.etag === answer.headers.etag && headers?.['content-length'] === `${body.length}`;
  }

  /** A signed request without a body. */
  #bare<Method extends 'GET' | 'HEAD'>(
    method: Method,
    key: string,
    given: SentHeaders,
    holder: SigningKeyHolder,
    now: Date,
  ) {
    const path = this.#address.path + encodeKey(key);
    const headers = { ...given, ...this.#common, 'x-amz-content-sha256': EMPTY_SHA256 };
    return { method, path, headers: this.#signer.sign({ method, path, query: [], headers }, holder, now) };
  }

  async #head(holder: SigningKeyHolder, { key, timeoutMs }: SignedHead): Promise<IncomingHttpHeaders | null> {
    const { offset } = this.#clock;
    const now = new Date(Date.now() + offset);
    const request = { ...this.#bare('HEAD', key, {}, holder, now), body: null, timeoutMs };
    const { status, headers } = await send(this.#pools.head, request);
    this.#answers.check('HeadObject', { status, headers, text: null });
    if (status === 404) return null;
    if (status !== 200) throw this.#clock.corrected(headFailure(status, headers, now), offset);
    return headers;
  }

  async #get(
    holder: SigningKeyHolder,
    { key, headers, timeoutMs, idleMs, purpose }: SignedGet,
  ): Promise<OpenAnswer> {
    const { offset } = this.#clock;
    const now = new Date(Date.now() + offset);
    const timeouts = { headersTimeout: timeoutMs, bodyTimeout: idleMs };
    const request = { ...this.#bare('GET', key, headers, holder, now), ...timeouts };
    const response = await openExchange(
      this.#pools[purpose],
      request,
      this.#limits.connectTimeoutMs + timeoutMs,
    );
    const { statusCode: status, headers: found, body } = response;
    const succeeded = status >= 200 && status <= 299;
    const text = succeeded ? null : String(await readBeginning(body, MAX_FAILURE_BYTES));
    try {
      this.#answers.check('GetObject', { status, headers: found, text });
    } catch (error) {
      body.on('error', () => undefined).destroy();
      throw error;
    }
    if (text !== null) throw this.#clock.corrected(failureOf(status, text, found), offset);
    return response;
  }
}

function send(pool: Pool, request: WireRequest): Promise<WholeAnswer> {
  const exchange = new Exchange(request);
  pool.dispatch(exchange.options, exchange);
  return exchange.answer;
}

/** S3 rejects requests signed further from its own time than this, in milliseconds. */
const MAX_SKEW_MS = 15 * 60_000;

/** An answer to HEAD has no error document, so only its date shows whether the clock was the reason for a rejection. */
function headFailure(status: number, headers: IncomingHttpHeaders, signedAt: Date): S3Failure {
  const failure = failureOf(status, '', headers);
  const { serverTime } = failure;
  const isSkewed = serverTime !== null && Math.abs(serverTime - signedAt.getTime()) > MAX_SKEW_MS;
  return status === 403 && isSkewed ? new S3Failure({ ...failure, code: 'RequestTimeTooSkewed' }) : failure;
}

const MAX_FAILURE_BYTES = 64 * 1024;

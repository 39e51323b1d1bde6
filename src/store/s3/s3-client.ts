import { Readable } from 'node:stream';
import { PutObjectCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { httpAgents } from '../../lib/outbound/http-agents.js';
import { readBeginning } from '../../lib/text/read-beginning.js';
import { StoreError } from '../object-store.js';
import { CredentialChain, createCredentialChain, useCredentialChain } from './credential-chain.js';
import { noAnswer, type S3RetryPolicy } from './s3-failure.js';
import type { S3Settings } from './s3-options.js';
import { type AnswerCheck, createAnswerCheck } from './wire/answer-check.js';
import { EXPECTED_OWNER } from './wire/object-headers.js';
import type { SigningKeyHolder } from './wire/s3-signer.js';
import { storeConnect } from './wire/store-connect.js';
import { KEEP_ALIVE_MS } from './wire/store-pool.js';

/** Milliseconds without data after which the body of an answer counts as broken. */
const IDLE_TIMEOUT_MS = 30_000;

/** `S3Settings` with every default in place. */
export interface S3Limits {
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly partTimeoutMs: number;
  readonly maxSockets: number;
  readonly retry: S3RetryPolicy;
}

/** @param closing aborted when the store is closed */
export function s3Limits(settings: S3Settings, closing?: AbortSignal): S3Limits {
  return {
    connectTimeoutMs: settings.connectTimeoutMs ?? 3_000,
    requestTimeoutMs: settings.requestTimeoutMs ?? 15_000,
    partTimeoutMs: settings.partTimeoutMs ?? 60_000,
    maxSockets: settings.maxSockets ?? 64,
    retry: {
      retries: settings.retries ?? 4,
      delayMs: settings.retryDelayMs ?? 200,
      deadlineMs: settings.retryDeadlineMs ?? 45_000,
      ...(closing && { closing }),
    },
  };
}

interface SdkClient {
  readonly client: S3Client;
  /** Credentials that requests are signed with. */
  readonly credentials: SigningKeyHolder | CredentialChain;
}

/**
 * The SDK's client, for everything but bodies: control of uploads, listings, deletions. It makes one attempt; `withRetries`
 * retries by the same rules as for other requests.
 *
 * The SDK's defaults do not fit: no time-out, or one that only warns; checksums that several compatible servers reject;
 * 100-continue outside the connection pool.
 */
export function createS3Client(settings: S3Settings, limits: S3Limits, answers: AnswerCheck): SdkClient {
  const { endpoint } = settings;
  const { maxSockets } = limits;
  // Without a time-out Node's agent keeps an idle connection until the server closes it, possibly while a request is being sent.
  const kept = { keepAlive: true, timeout: KEEP_ALIVE_MS, maxSockets };
  const agents = httpAgents(storeConnect(settings, limits.connectTimeoutMs), kept);
  const config: S3ClientConfig = {
    forcePathStyle: settings.forcePathStyle ?? false,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: limits.connectTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      throwOnRequestTimeout: true,
      socketTimeout: IDLE_TIMEOUT_MS,
      httpAgent: agents.http,
      httpsAgent: agents.https,
    },
  };
  if (endpoint) config.endpoint = endpoint;
  const region = settings.region ?? (endpoint ? 'us-east-1' : null);
  if (region !== null) config.region = region;
  const toTokenService = { region: config.region, requestHandler: config.requestHandler };
  const credentials = fixedKeys(settings) ?? createCredentialChain(toTokenService);
  const isChain = credentials instanceof CredentialChain;
  config.credentials = isChain ? () => credentials.getOnce() : credentials;
  const client = new S3Client(config);
  if (isChain) useCredentialChain(client, credentials);
  if (settings.expectedBucketOwner)
    sendWithEveryRequest(client, EXPECTED_OWNER, settings.expectedBucketOwner);
  checkAnswers(client, answers);
  return { client, credentials };
}

function sendWithEveryRequest(client: S3Client, header: string, value: string): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      (args.request as { headers: Record<string, string> }).headers[header] = value;
      return next(args);
    },
    // Added before signing, so that the signature covers it.
    { step: 'build', name: 'sendWithEveryRequest' },
  );
}

/** The configured keys; null when the AWS chain provides them. */
function fixedKeys({ accessKeyId, secretAccessKey, sessionToken }: S3Settings) {
  if (!accessKeyId || !secretAccessKey) return null;
  return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
}

/** Upper bound of an answer: a listing of a thousand keys takes less than 2 MiB, so a longer answer is not S3's. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

interface SdkAnswer {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  body: Readable;
}

/** Checks every answer before the SDK parses it: the SDK would read a web page as an empty listing. */
function checkAnswers(client: S3Client, answers: AnswerCheck): void {
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const result = await next(args);
      const response = result.response as SdkAnswer;
      const operation = (context.commandName ?? '').replace(/Command$/, '');
      const { statusCode: status, headers } = response;
      const body = await wholeText(response.body);
      response.body = Readable.from([body]);
      answers.check(operation, {
        status,
        headers,
        text: operation === 'HeadObject' ? null : body.toString(),
      });
      return result;
    },
    { step: 'deserialize', name: 'checkAnswer', priority: 'low' },
  );
}

async function wholeText(body: Readable): Promise<Buffer> {
  const text = await readBeginning(body, MAX_ANSWER_BYTES);
  if (text.length > MAX_ANSWER_BYTES) throw noAnswer('NotAnswerOfS3', 'too long');
  return text;
}

const SET_REGION = 'set store.s3.region (TR_S3_REGION, or AWS_REGION) to the region of the bucket';

/** Address of a bucket; `path` ends in `/` and is encoded. */
export interface BucketAddress {
  readonly origin: string;
  readonly host: string;
  readonly path: string;
  readonly region: string;
}

/**
 * Asks the SDK where it would send a write, so that the connection pool uses the same address in every case: virtual
 * hosts, path style, dual stack, other partitions, endpoints from the environment.
 */
export async function bucketAddress(
  settings: S3Settings,
  limits: S3Limits,
  bucket: string,
): Promise<BucketAddress> {
  // Dummy credentials: the real ones may need the network, and opening a store must not wait for them.
  const unsigned = { ...settings, accessKeyId: 'none', secretAccessKey: 'none' };
  const { client } = createS3Client(unsigned, limits, createAnswerCheck());
  try {
    const request = await requestFor(client, bucket);
    const port = request.port === undefined ? '' : `:${request.port}`;
    return {
      origin: `${request.protocol}//${request.hostname}${port}`,
      host: `${request.hostname}${port}`,
      path: request.path.slice(0, -'x'.length),
      region: await client.config.region(),
    };
  } catch (error) {
    const reason = (error as { message?: unknown }).message;
    const what = settings.region || settings.endpoint ? '' : `; ${SET_REGION}`;
    throw new StoreError('open', `the address of bucket ${bucket} is unknown: ${reason}${what}`, {
      cause: error,
    });
  } finally {
    client.destroy();
  }
}

interface BuiltRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
}

/** Lets the SDK build a request and stops it before it is signed or sent. */
async function requestFor(client: S3Client, bucket: string): Promise<BuiltRequest> {
  let built: BuiltRequest | null = null;
  const command = new PutObjectCommand({ Bucket: bucket, Key: 'x' });
  command.middlewareStack.add(
    () => async (args) => {
      built = args.request as BuiltRequest;
      return { output: { $metadata: {} }, response: {} };
    },
    { step: 'build', name: 'captureAddress', priority: 'high' },
  );
  await client.send(command);
  if (built === null) throw new Error('the SDK built no request');
  return built;
}

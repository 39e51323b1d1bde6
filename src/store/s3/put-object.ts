import { retryAfter } from '../../time/retry.js';
import { assertKey } from '../object-key.js';
import { assertHeaders } from '../object-metadata.js';
import type { CreateResult, ObjectHeaders } from '../object-store.js';
import { headObject } from './read-object.js';
import type { S3Bucket } from './s3-bucket.js';
import { s3StoreError } from './s3-store-error.js';
import type { WholeAnswer } from './wire/exchange.js';
import { addObjectLines, integrityLines, integrityOf } from './wire/object-headers.js';
import type { SignedPut } from './wire/s3-sender.js';
import { s3RetryRules } from './with-retries.js';

/** Larger bodies have the time-out of a part. */
const SMALL_BODY = 1024 * 1024;

/**
 * PutObject, to create with `If-None-Match: *`. Every retry has the condition as well: a write whose answer was lost ends in
 * `exists`, and the caller reads back. Nothing is ever overwritten. Where conditions are emulated, a HEAD comes before.
 */
export async function putObject(
  bucket: S3Bucket,
  operation: 'create' | 'replace',
  key: string,
  body: Buffer,
  headers: ObjectHeaders,
): Promise<CreateResult> {
  assertKey(operation, key);
  assertHeaders(operation, headers);
  let isConditional = operation === 'create';
  if (isConditional && bucket.settings.conditionalWrites === 'emulated') {
    if ((await headObject(bucket, key)) !== null) return 'exists';
    isConditional = false;
  }
  const request = putRequest(bucket, key, body, headers, isConditional);
  const startedAt = performance.now();
  try {
    return resultOf(await bucket.sender.put(request));
  } catch (error) {
    return putAgain(bucket, request, error, startedAt).catch((failure: unknown) => {
      throw s3StoreError(operation, key, failure);
    });
  }
}

/** After the first attempt failed: most succeed, and those need no rules. */
async function putAgain(
  { sender, limits }: S3Bucket,
  request: SignedPut,
  error: unknown,
  startedAt: number,
): Promise<CreateResult> {
  const rules = s3RetryRules(limits.retry, {}, startedAt);
  return resultOf(await retryAfter(error, () => sender.put(request), rules));
}

function resultOf({ status }: WholeAnswer): CreateResult {
  return status === 412 ? 'exists' : 'created';
}

function putRequest(
  bucket: S3Bucket,
  key: string,
  body: Buffer,
  headers: ObjectHeaders,
  ifAbsent: boolean,
): SignedPut {
  const { sender, settings, limits } = bucket;
  const lines = integrityLines(integrityOf(settings, sender.secure, body, headers.metadata.sha256));
  addObjectLines(lines, settings, key, headers);
  return {
    operation: 'PutObject',
    key: bucket.prefix + key,
    headers: lines,
    ifAbsent,
    body,
    timeoutMs: body.length <= SMALL_BODY ? limits.requestTimeoutMs : limits.partTimeoutMs,
  };
}

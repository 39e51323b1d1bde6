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
 * PutObject with `If-None-Match: *`. Every retry has the condition as well: a write whose answer was lost ends in
 * `exists`, and the caller reads back. Nothing is ever overwritten.
 */
export async function createObject(
  bucket: S3Bucket,
  key: string,
  body: Buffer,
  headers: ObjectHeaders,
): Promise<CreateResult> {
  assertKey('create', key);
  assertHeaders('create', headers);
  if (bucket.settings.conditionalWrites === 'emulated') {
    if ((await headObject(bucket, key)) !== null) return 'exists';
    await replaceObject(bucket, key, body, headers);
    return 'created';
  }
  try {
    const { status } = await put(bucket, putRequest(bucket, key, body, headers, true));
    return status === 412 ? 'exists' : 'created';
  } catch (error) {
    throw s3StoreError('create', key, error);
  }
}

/** PutObject without a condition. */
export async function replaceObject(
  bucket: S3Bucket,
  key: string,
  body: Buffer,
  headers: ObjectHeaders,
): Promise<void> {
  assertKey('replace', key);
  assertHeaders('replace', headers);
  try {
    await put(bucket, putRequest(bucket, key, body, headers, false));
  } catch (error) {
    throw s3StoreError('replace', key, error);
  }
}

async function put({ sender, limits }: S3Bucket, request: SignedPut): Promise<WholeAnswer> {
  const startedAt = performance.now();
  try {
    return await sender.put(request);
  } catch (error) {
    const rules = s3RetryRules(limits.retry, {}, startedAt);
    return retryAfter(error, () => sender.put(request), rules);
  }
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

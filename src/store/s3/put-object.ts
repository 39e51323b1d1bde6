import { retry } from '../../time/retry.js';
import type { CreateResult, ObjectHeaders } from '../object-store.js';
import { headObject } from './read-object.js';
import type { S3Bucket } from './s3-bucket.js';
import { s3StoreError } from './s3-store-error.js';
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
  if (bucket.settings.conditionalWrites === 'emulated') {
    if ((await headObject(bucket, key)) !== null) return 'exists';
    await replaceObject(bucket, key, body, headers);
    return 'created';
  }
  const request = putRequest(bucket, key, body, headers);
  try {
    return await retry(() => bucket.sender.putIfAbsent(request), s3RetryRules(bucket.limits.retry));
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
  const request = putRequest(bucket, key, body, headers);
  try {
    await retry(() => bucket.sender.put('PutObject', request), s3RetryRules(bucket.limits.retry));
  } catch (error) {
    throw s3StoreError('replace', key, error);
  }
}

function putRequest(bucket: S3Bucket, key: string, body: Buffer, headers: ObjectHeaders): SignedPut {
  const { sender, settings, limits } = bucket;
  const lines = integrityLines(integrityOf(settings, sender.secure, body, headers.metadata.sha256));
  addObjectLines(lines, settings, key, headers);
  return {
    key: bucket.prefix + key,
    headers: lines,
    body,
    timeoutMs: body.length <= SMALL_BODY ? limits.requestTimeoutMs : limits.partTimeoutMs,
  };
}

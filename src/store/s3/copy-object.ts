import {
  type CompletedPart,
  CompleteMultipartUploadCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import pLimit from 'p-limit';
import { type CopyResult, type ObjectHeaders, type ObjectInfo, StoreError } from '../object-store.js';
import { abortUpload, type UploadAddress } from './abort-upload.js';
import { located, type S3Bucket } from './bucket/s3-bucket.js';
import { headObject } from './read-object.js';
import { asFailure, isConditionFailed, isMissing, isRetryable, withRetries } from './s3-failure.js';
import { s3StoreError } from './s3-store-error.js';
import { beginS3Upload } from './s3-upload.js';
import { sendsCrc32 } from './wire/object-headers.js';
import { encodeKey } from './wire/s3-signer.js';

interface ObjectCopyOrder {
  readonly from: ObjectInfo;
  readonly key: string;
  readonly headers: ObjectHeaders;
  readonly over: ObjectInfo | null;
}

/** Bytes per copied part: the server copies it in one request, within the time-out of a part. S3's limit is 5 GiB. */
const COPIED_AT_ONCE = 256 * 1024 * 1024;
const PARTS_IN_FLIGHT = 4;

/**
 * Copies on the server, as a multipart upload of any size: CompleteMultipartUpload takes conditions, and CopyObject does not. The source is
 * checked again after its parts were copied, because Ceph RGW 20 ignores a condition on the source.
 */
export async function copyObject(bucket: S3Bucket, order: ObjectCopyOrder): Promise<CopyResult> {
  const { key } = order;
  try {
    if (order.from.version === '' || order.over?.version === '')
      throw new StoreError('copy', 'the store names no ETag');
    if (bucket.settings.conditionalWrites === 'emulated' && !(await isTargetUnchanged(bucket, order)))
      return 'changed';
    return await copyInParts(bucket, order);
  } catch (error) {
    if (isChanged(error)) return 'changed';
    throw s3StoreError('copy', key, error);
  }
}

/** Whether an error shows that the condition on the source or target does not hold, or that either is gone. */
function isChanged(error: unknown): boolean {
  if (error instanceof StoreError) return false;
  const failure = asFailure(error);
  return isConditionFailed(failure.status) || isMissing(failure);
}

async function isTargetUnchanged(bucket: S3Bucket, { key, over }: ObjectCopyOrder): Promise<boolean> {
  const there = await headObject(bucket, key);
  return (there?.version ?? null) === (over?.version ?? null);
}

function conditionOf({ settings }: S3Bucket, over: ObjectInfo | null) {
  if (settings.conditionalWrites === 'emulated') return {};
  return over === null ? { IfNoneMatch: '*' } : { IfMatch: over.version };
}

async function copyInParts(
  bucket: S3Bucket,
  { from, key, headers, over }: ObjectCopyOrder,
): Promise<CopyResult> {
  const { uploadId } = await beginS3Upload(bucket, key, headers);
  const upload = { key, uploadId };
  try {
    const parts = await (from.size === 0 ? emptyPart(bucket, upload) : copyParts(bucket, upload, from));
    if ((await headObject(bucket, from.key))?.version !== from.version) {
      await abortUpload(bucket, upload);
      return 'changed';
    }
    await withRetries(
      bucket.limits.retry,
      () =>
        bucket.client.send(
          new CompleteMultipartUploadCommand({
            ...located(bucket, key),
            UploadId: uploadId,
            MultipartUpload: { Parts: parts },
            ...conditionOf(bucket, over),
          }),
          { requestTimeout: bucket.limits.partTimeoutMs },
        ),
      { worthwhile: (failure) => failure.status !== 409 && isRetryable(failure) },
    );
    return 'copied';
  } catch (error) {
    await abortUpload(bucket, upload);
    throw error;
  }
}

/** Uploads an empty part: an upload needs at least one, and no range of an empty source can be copied. */
async function emptyPart(bucket: S3Bucket, { key, uploadId }: UploadAddress): Promise<CompletedPart[]> {
  const { ETag, ChecksumCRC32 } = await withRetries(bucket.limits.retry, () =>
    bucket.client.send(
      new UploadPartCommand({
        ...located(bucket, key),
        UploadId: uploadId,
        PartNumber: 1,
        Body: Buffer.alloc(0),
        ...(sendsCrc32(bucket.settings) && { ChecksumAlgorithm: 'CRC32' }),
      }),
    ),
  );
  return [completed(1, ETag, ChecksumCRC32)];
}

function copyParts(bucket: S3Bucket, upload: UploadAddress, from: ObjectInfo): Promise<CompletedPart[]> {
  const limit = pLimit(PARTS_IN_FLIGHT);
  const count = Math.ceil(from.size / COPIED_AT_ONCE);
  return Promise.all(Array.from({ length: count }, (_, n) => limit(() => copyPart(bucket, upload, from, n))));
}

/** @param n counts from 0 */
async function copyPart(
  bucket: S3Bucket,
  { key, uploadId }: UploadAddress,
  from: ObjectInfo,
  n: number,
): Promise<CompletedPart> {
  const source = located(bucket, from.key);
  const start = n * COPIED_AT_ONCE;
  const end = Math.min(start + COPIED_AT_ONCE, from.size) - 1;
  const answer = await withRetries(bucket.limits.retry, () =>
    bucket.client.send(
      new UploadPartCopyCommand({
        ...located(bucket, key),
        UploadId: uploadId,
        PartNumber: n + 1,
        CopySource: `${source.Bucket}/${encodeKey(source.Key)}`,
        CopySourceRange: `bytes=${start}-${end}`,
      }),
      { requestTimeout: bucket.limits.partTimeoutMs },
    ),
  );
  return completed(n + 1, answer.CopyPartResult?.ETag, answer.CopyPartResult?.ChecksumCRC32);
}

function completed(
  PartNumber: number,
  ETag: string | undefined,
  ChecksumCRC32: string | undefined,
): CompletedPart {
  if (ETag === undefined) throw new StoreError('copy', 'the answer has no ETag of the part');
  return { PartNumber, ETag, ...(ChecksumCRC32 !== undefined && { ChecksumCRC32 }) };
}

import {
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
} from '@aws-sdk/client-s3';
import { type CreateResult, type ObjectHeaders, type PendingUpload, StoreError } from '../object-store.js';
import { abortUpload, type UploadAddress } from './abort-upload.js';
import { located, type S3Bucket } from './bucket/s3-bucket.js';
import { headObject } from './read-object.js';
import {
  asFailure,
  isConditionFailed,
  isMissing,
  isRetryable,
  type S3Failure,
  withRetries,
} from './s3-failure.js';
import { s3StoreError } from './s3-store-error.js';
import { combineCrc32 } from './wire/combine-crc32.js';
import {
  crc32Text,
  integrityHeaders,
  integrityOf,
  lockOf,
  sendsCrc32,
  storageClassOf,
  taggingOf,
} from './wire/object-headers.js';

/** AWS's default is a checksum of the part checksums, which cannot be checked without the sizes of the parts. */
const WHOLE_OBJECT = { ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' } as const;

/** A part that the store has. */
interface SentPart {
  readonly number: number;
  readonly etag: string;
  readonly size: number;
  /** Null when none was sent. */
  readonly crc32: number | null;
}

/**
 * Begins a multipart upload immediately and not with the first part: a store that refuses does so before the body is
 * received, and all parts and the abort have the upload's id.
 */
export async function startS3Upload(
  bucket: S3Bucket,
  key: string,
  headers: ObjectHeaders,
): Promise<PendingUpload> {
  try {
    const { uploadId, checksumType } = await beginS3Upload(bucket, key, headers);
    // AWS repeats the type; Ceph RGW 20 leaves it out.
    const isWhole = sendsCrc32(bucket.settings) && checksumType !== 'COMPOSITE';
    return createPendingUpload(bucket, { key, uploadId }, isWhole);
  } catch (error) {
    throw s3StoreError('startUpload', key, error);
  }
}

/** Begins an upload. Resolves to its id, and to its type of checksum if the server names it. Throws SDK errors, and `StoreError`. */
export async function beginS3Upload(
  bucket: S3Bucket,
  key: string,
  headers: ObjectHeaders,
): Promise<{ readonly uploadId: string; readonly checksumType: string | undefined }> {
  const { sse } = bucket.settings;
  const lock = lockOf(bucket.settings, key, headers);
  const storageClass = storageClassOf(bucket.settings, headers);
  const tagging = taggingOf(bucket.settings, headers);
  const { UploadId, ChecksumType } = await withRetries(bucket.limits.retry, () =>
    bucket.client.send(
      new CreateMultipartUploadCommand({
        ...located(bucket, key),
        ContentType: headers.contentType,
        Metadata: { ...headers.metadata },
        ...(storageClass !== null && { StorageClass: storageClass as 'STANDARD' }),
        ...(tagging !== null && { Tagging: tagging }),
        ...(sse && { ServerSideEncryption: sse.mode }),
        ...(sse?.mode === 'aws:kms' && sse.keyId && { SSEKMSKeyId: sse.keyId }),
        ...(sendsCrc32(bucket.settings) && WHOLE_OBJECT),
        ...(lock !== null && { ObjectLockMode: lock.mode, ObjectLockRetainUntilDate: lock.until }),
      }),
    ),
  );
  if (!UploadId) throw new StoreError('startUpload', 'the answer names no upload id');
  return { uploadId: UploadId, checksumType: ChecksumType };
}

/** @param isWhole whether the server checks the CRC-32 of the whole object on completion */
function createPendingUpload(bucket: S3Bucket, upload: UploadAddress, isWhole: boolean): PendingUpload {
  const stop = new AbortController();
  const parts: Promise<SentPart>[] = [];
  let ending: Promise<void> | null = null;

  function send(part: Buffer): Promise<SentPart> {
    const sending = uploadPart(bucket, upload, parts.length + 1, part, stop.signal);
    parts.push(sending);
    return sending;
  }

  async function stopAndAbort(): Promise<void> {
    stop.abort();
    await Promise.allSettled(parts);
    await abortUpload(bucket, upload);
  }

  function abort(): Promise<void> {
    ending ??= stopAndAbort();
    return ending;
  }

  return {
    async write(part) {
      await send(part);
    },

    async complete() {
      if (ending) throw new StoreError('complete', 'the upload has ended');
      // S3 does not complete an upload without parts.
      if (parts.length === 0) send(Buffer.alloc(0));
      try {
        const result = await completeUpload(bucket, upload, await Promise.all(parts), isWhole);
        if (result === 'created') ending = Promise.resolve();
        else await abort();
        return result;
      } catch (error) {
        await abort();
        throw s3StoreError('complete', upload.key, error);
      }
    },

    abort,
  };
}

async function uploadPart(
  bucket: S3Bucket,
  upload: UploadAddress,
  number: number,
  body: Buffer,
  signal: AbortSignal,
): Promise<SentPart> {
  const { sender, settings } = bucket;
  const integrity = integrityOf(settings, sender.secure, body);
  const request = {
    operation: 'UploadPart' as const,
    key: bucket.prefix + upload.key,
    query: { partNumber: `${number}`, uploadId: upload.uploadId },
    headers: integrityHeaders(integrity),
    body,
    signal,
  };
  try {
    const { headers } = await sender.put(request);
    const { etag } = headers;
    if (etag === undefined) throw new StoreError('write', 'the answer has no ETag of the part');
    return { number, etag, size: body.length, crc32: integrity.crc32 };
  } catch (error) {
    throw s3StoreError('write', upload.key, error);
  }
}

function completedPart({ number, etag, crc32 }: SentPart): CompletedPart {
  return { PartNumber: number, ETag: etag, ...(crc32 !== null && { ChecksumCRC32: crc32Text(crc32) }) };
}

/** CRC-32 of the parts in their order. */
function wholeCrc32(parts: readonly SentPart[]): string {
  return crc32Text(parts.reduce((whole, { crc32, size }) => combineCrc32(whole, crc32 ?? 0, size), 0));
}

/**
 * Completes on the condition that no object exists at the key. 412 is final. After a 409 the whole upload would have to be
 * repeated, which only the sender can do. When there was no answer, or the upload is missing because an earlier attempt
 * succeeded without one, a HEAD of the key decides.
 */
async function completeUpload(
  bucket: S3Bucket,
  upload: UploadAddress,
  parts: readonly SentPart[],
  isWhole: boolean,
): Promise<CreateResult> {
  const emulated = bucket.settings.conditionalWrites === 'emulated';
  if (emulated && (await headObject(bucket, upload.key)) !== null) return 'exists';
  try {
    await withRetries(
      bucket.limits.retry,
      () =>
        bucket.client.send(
          new CompleteMultipartUploadCommand({
            ...located(bucket, upload.key),
            UploadId: upload.uploadId,
            MultipartUpload: { Parts: parts.map(completedPart) },
            ...(isWhole && { ChecksumCRC32: wholeCrc32(parts), ChecksumType: WHOLE_OBJECT.ChecksumType }),
            ...(!emulated && { IfNoneMatch: '*' }),
          }),
          // Some servers take long to join thousands of parts.
          { requestTimeout: bucket.limits.partTimeoutMs },
        ),
      { worthwhile: (failure) => failure.status !== 409 && isRetryable(failure) },
    );
    return 'created';
  } catch (error) {
    const failure = asFailure(error);
    if (isConditionFailed(failure.status)) return 'exists';
    if (isInDoubt(failure) && (await headObject(bucket, upload.key)) !== null) return 'exists';
    throw failure;
  }
}

/** Whether the server may have completed the upload nevertheless. */
function isInDoubt(failure: S3Failure): boolean {
  return isRetryable(failure) || isMissing(failure);
}

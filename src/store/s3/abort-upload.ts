import { setTimeout as sleep } from 'node:timers/promises';
import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListPartsCommand,
} from '@aws-sdk/client-s3';
import { StoreError } from '../object-store.js';
import { located, type S3Bucket } from './bucket/s3-bucket.js';
import { asFailure, isMissing, withRetries } from './s3-failure.js';
import { s3StoreError } from './s3-store-error.js';

export interface UploadAddress {
  /** Relative to the store's prefix. */
  readonly key: string;
  readonly uploadId: string;
}

/** Attempts: a part in flight during the abort can arrive afterwards and bring the upload back. */
const ATTEMPTS = 5;
const PAUSE_MS = 100;
/** Short, because the sender waits for its answer. */
const TIME_LIMIT_MS = 10_000;

/**
 * Aborts an upload until no part of it is left, within a bounded time. Never throws.
 *
 * @returns whether it is proven gone; otherwise a later sweep aborts it
 */
export async function abortUpload(bucket: S3Bucket, upload: UploadAddress): Promise<boolean> {
  return abortCompletely(bucket, upload).then(
    () => true,
    () => false,
  );
}

/** Throws unless the upload is proven gone. */
async function abortCompletely(bucket: S3Bucket, upload: UploadAddress): Promise<void> {
  const abortSignal = AbortSignal.timeout(TIME_LIMIT_MS);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    await abortOnce(bucket, upload, abortSignal);
    if (!(await hasParts(bucket, upload, abortSignal))) return;
    await sleep(PAUSE_MS * attempt);
  }
  throw new StoreError('abort', `parts of the upload of ${upload.key} are left`);
}

async function abortOnce(bucket: S3Bucket, upload: UploadAddress, abortSignal: AbortSignal): Promise<void> {
  const input = { ...located(bucket, upload.key), UploadId: upload.uploadId };
  await unlessMissing(bucket, abortSignal, () =>
    bucket.client.send(new AbortMultipartUploadCommand(input), { abortSignal }),
  );
}

/** Whether the store still has parts. For an aborted upload most servers answer NoSuchUpload, Ceph NoSuchKey. */
async function hasParts(bucket: S3Bucket, upload: UploadAddress, abortSignal: AbortSignal): Promise<boolean> {
  const input = { ...located(bucket, upload.key), UploadId: upload.uploadId, MaxParts: 1 };
  const response = await unlessMissing(bucket, abortSignal, () =>
    bucket.client.send(new ListPartsCommand(input), { abortSignal }),
  );
  return (response?.Parts?.length ?? 0) > 0;
}

async function unlessMissing<T>(
  bucket: S3Bucket,
  signal: AbortSignal,
  send: () => Promise<T>,
): Promise<T | null> {
  try {
    return await withRetries(bucket.limits.retry, send, { signal });
  } catch (error) {
    if (isMissing(asFailure(error))) return null;
    throw error;
  }
}

/** Aborts all uploads below a folder; resolves to their number. Throws `StoreError` unless they are proven gone. */
export async function abortS3Uploads(bucket: S3Bucket, folder: string): Promise<number> {
  let aborted = 0;
  for await (const { upload } of pendingUploads(bucket, folder)) {
    await abortCompletely(bucket, upload).catch((error: unknown) => {
      throw s3StoreError('abort', upload.key, error);
    });
    aborted += 1;
  }
  return aborted;
}

/** Aborts uploads below the store's prefix begun before `olderThan`; resolves to the number that is proven gone. */
export async function sweepS3Uploads(bucket: S3Bucket, olderThan: Date): Promise<number> {
  let swept = 0;
  for await (const { upload, begun } of pendingUploads(bucket, '')) {
    if (begun < olderThan && (await abortUpload(bucket, upload))) swept += 1;
  }
  return swept;
}

async function* pendingUploads(
  bucket: S3Bucket,
  folder: string,
): AsyncGenerator<{ upload: UploadAddress; begun: Date }> {
  const prefix = bucket.prefix + folder;
  let marker: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | null = {};
  while (marker !== null) {
    const page: ListMultipartUploadsCommandOutput = await listPage(bucket, prefix, marker);
    for (const { Key: key = '', UploadId, Initiated } of page.Uploads ?? []) {
      if (!UploadId || !Initiated || !key.startsWith(prefix)) continue;
      yield { upload: { key: key.slice(bucket.prefix.length), uploadId: UploadId }, begun: Initiated };
    }
    if (page.IsTruncated && !page.NextKeyMarker)
      throw new StoreError('sweep', `the listing of uploads of "${folder}" is truncated and does not go on`);
    marker = page.IsTruncated
      ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
      : null;
  }
}

async function listPage(
  bucket: S3Bucket,
  prefix: string,
  marker: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined },
): Promise<ListMultipartUploadsCommandOutput> {
  try {
    return await withRetries(bucket.limits.retry, () =>
      bucket.client.send(
        // Without `EncodingType`: Ceph would encode the keys without declaring it.
        new ListMultipartUploadsCommand({ ...marker, Bucket: bucket.bucket, Prefix: prefix }),
      ),
    );
  } catch (error) {
    throw s3StoreError('sweep', prefix, error);
  }
}

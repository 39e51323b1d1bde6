import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import {
  type KeptObject,
  type ObjectInfo,
  type ObjectReading,
  type ReadPurpose,
  StoreError,
} from '../object-store.js';
import { wholeBody } from '../whole-body.js';
import { located, type S3Bucket } from './bucket/s3-bucket.js';
import { asFailure, isMissing } from './s3-failure.js';
import { s3StoreError } from './s3-store-error.js';
import { METADATA } from './wire/object-headers.js';
import { withRetries } from './with-retries.js';

interface Described {
  readonly ETag?: string | undefined;
  readonly ContentLength?: number | undefined;
  readonly ContentRange?: string | undefined;
  readonly ContentType?: string | undefined;
  readonly LastModified?: Date | undefined;
  readonly Metadata?: Record<string, string> | undefined;
  readonly ObjectLockLegalHoldStatus?: string | undefined;
  readonly ObjectLockRetainUntilDate?: Date | undefined;
}

export async function headObject(bucket: S3Bucket, key: string): Promise<ObjectInfo | null> {
  try {
    const request = { key: bucket.prefix + key, timeoutMs: bucket.limits.requestTimeoutMs };
    const headers = await withRetries(bucket.limits.retry, () => bucket.sender.head(request));
    return infoOf('head', key, describedBy(headers));
  } catch (error) {
    if (isMissing(asFailure(error))) return null;
    throw s3StoreError('head', key, error);
  }
}

export async function readObject(
  bucket: S3Bucket,
  key: string,
  range: { start: number; end: number } | null,
  purpose: ReadPurpose,
): Promise<ObjectReading | null> {
  const { requestTimeoutMs: timeoutMs, partTimeoutMs: idleMs, retry } = bucket.limits;
  const headers = range ? { range: `bytes=${range.start}-${range.end}` } : {};
  const request = { key: bucket.prefix + key, headers, timeoutMs, idleMs, purpose };
  try {
    const answer = await withRetries(retry, () => bucket.sender.get(request));
    const described = describedBy(answer.headers);
    const info = infoOf('read', key, described);
    return {
      info,
      body: wholeBody(answer.body, described.ContentLength ?? info.size, key, (error) =>
        s3StoreError('read', key, error),
      ),
    };
  } catch (error) {
    const failure = asFailure(error);
    if (isMissing(failure)) return null;
    if (failure.status !== 416) throw s3StoreError('read', key, error);
    // The range begins beyond the end: by the contract of the store it reads as empty.
    const info = await headObject(bucket, key);
    return info && { info, body: Readable.from([]) };
  }
}

export async function deleteObject(bucket: S3Bucket, key: string): Promise<void> {
  try {
    await withRetries(bucket.limits.retry, () =>
      bucket.client.send(new DeleteObjectCommand(located(bucket, key))),
    );
  } catch (error) {
    if (!isMissing(asFailure(error))) throw s3StoreError('delete', key, error);
  }
}

/** Reads the headers as the SDK would. */
function describedBy(headers: IncomingHttpHeaders): Described {
  const text = (name: string): string | undefined => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  };
  const metadata: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    if (name.startsWith(METADATA)) metadata[name.slice(METADATA.length)] = text(name) ?? '';
  }
  const length = text('content-length');
  const time = (name: string): Date | undefined => {
    const value = text(name);
    return value === undefined ? undefined : new Date(value);
  };
  return {
    ETag: text('etag'),
    ContentLength: length === undefined ? undefined : Number(length),
    ContentRange: text('content-range'),
    ContentType: text('content-type'),
    LastModified: time('last-modified'),
    Metadata: metadata,
    ObjectLockLegalHoldStatus: text('x-amz-object-lock-legal-hold'),
    ObjectLockRetainUntilDate: time('x-amz-object-lock-retain-until-date'),
  };
}

function infoOf(operation: string, key: string, found: Described): ObjectInfo {
  const total = found.ContentRange?.match(/\/(\d+)$/)?.[1];
  const size = total === undefined ? found.ContentLength : Number(total);
  if (size === undefined) throw new StoreError(operation, `the answer has no size of ${key}`);
  return {
    key,
    size,
    modifiedAt: found.LastModified ?? new Date(0),
    contentType: found.ContentType ?? 'application/octet-stream',
    metadata: found.Metadata ?? {},
    version: found.ETag ?? '',
    ...md5Of(found),
    ...lockOf(found),
  };
}

/** The headers are there for those who may read them. */
function lockOf(found: Described): { readonly lock?: KeptObject } {
  if (found.ObjectLockLegalHoldStatus === 'ON') return { lock: { reason: 'legal-hold', until: null } };
  const until = found.ObjectLockRetainUntilDate;
  return until === undefined || until.getTime() <= Date.now() ? {} : { lock: { reason: 'retention', until } };
}

function md5Of({ ETag }: Described): { readonly md5?: string } {
  const [, md5] = /^"?([0-9a-f]{32})"?$/.exec(ETag ?? '') ?? [];
  return md5 === undefined ? {} : { md5 };
}

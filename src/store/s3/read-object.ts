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
import { asFailure, isMissing, withRetries } from './s3-failure.js';
import { s3StoreError } from './s3-store-error.js';
import { METADATA } from './wire/object-headers.js';

export async function headObject(bucket: S3Bucket, key: string): Promise<ObjectInfo | null> {
  try {
    const request = { key: bucket.prefix + key, timeoutMs: bucket.limits.requestTimeoutMs };
    const headers = await bucket.sender.head(request);
    return headers && infoOf('head', key, headers);
  } catch (error) {
    throw s3StoreError('head', key, error);
  }
}

export async function readObject(
  bucket: S3Bucket,
  key: string,
  range: { start: number; end: number } | null,
  purpose: ReadPurpose,
): Promise<ObjectReading | null> {
  const { requestTimeoutMs: timeoutMs, partTimeoutMs: idleMs } = bucket.limits;
  const headers = range ? { range: `bytes=${range.start}-${range.end}` } : {};
  const request = { key: bucket.prefix + key, headers, timeoutMs, idleMs, purpose };
  try {
    const answer = await bucket.sender.get(request);
    const info = infoOf('read', key, answer.headers);
    return {
      info,
      body: wholeBody(answer.body, Number(answer.headers['content-length'] ?? info.size), key, (error) =>
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

function infoOf(operation: string, key: string, headers: IncomingHttpHeaders): ObjectInfo {
  const text = (name: string): string | undefined => headers[name]?.toString();
  const size = headers['content-range']?.match(/\/(\d+)$/)?.[1] ?? headers['content-length'];
  if (size === undefined) throw new StoreError(operation, `the answer has no size of ${key}`);
  const metadata: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    if (name.startsWith(METADATA)) metadata[name.slice(METADATA.length)] = text(name) ?? '';
  }
  const version = headers.etag ?? '';
  const [, md5] = /^"?([0-9a-f]{32})"?$/.exec(version) ?? [];
  return {
    key,
    size: Number(size),
    modifiedAt: new Date(headers['last-modified'] ?? 0),
    contentType: headers['content-type'] ?? 'application/octet-stream',
    metadata,
    version,
    ...(md5 === undefined ? {} : { md5 }),
    ...lockOf(text('x-amz-object-lock-legal-hold'), text('x-amz-object-lock-retain-until-date')),
  };
}

/** The lock of an object; the headers are present only if permissions allow it. */
function lockOf(legalHold?: string, retainUntil?: string): { readonly lock?: KeptObject } {
  if (legalHold === 'ON') return { lock: { reason: 'legal-hold', until: null } };
  const until = new Date(retainUntil ?? 0);
  return until.getTime() <= Date.now() ? {} : { lock: { reason: 'retention', until } };
}

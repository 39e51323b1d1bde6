import { pipeline, Readable, Transform } from 'node:stream';
import { DeleteObjectCommand, GetObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import { type ObjectInfo, type ObjectReading, StoreError } from './object-store.js';
import { located, type S3Bucket } from './s3-bucket.js';
import { asFailure, isMissing, s3Trouble } from './s3-errors.js';

interface Described {
  readonly ContentLength?: number | undefined;
  readonly ContentRange?: string | undefined;
  readonly ContentType?: string | undefined;
  readonly LastModified?: Date | undefined;
  readonly Metadata?: Record<string, string> | undefined;
}

export async function headObject(bucket: S3Bucket, key: string): Promise<ObjectInfo | null> {
  try {
    return infoOf('head', key, await bucket.client.send(new HeadObjectCommand(located(bucket, key))));
  } catch (error) {
    if (isMissing(asFailure(error))) return null;
    throw s3Trouble('head', key, error);
  }
}

export async function readObject(
  bucket: S3Bucket,
  key: string,
  range?: { start: number; end: number },
): Promise<ObjectReading | null> {
  try {
    const input = { ...located(bucket, key), ...(range && { Range: `bytes=${range.start}-${range.end}` }) };
    const response = await bucket.client.send(new GetObjectCommand(input));
    const info = infoOf('read', key, response);
    return { info, body: wholeBody(response.Body as Readable, response.ContentLength ?? info.size, key) };
  } catch (error) {
    const failure = asFailure(error);
    if (isMissing(failure)) return null;
    if (failure.status !== 416) throw s3Trouble('read', key, error);
    // The range begins beyond the end, which by the store's contract reads as empty.
    const info = await headObject(bucket, key);
    return info && { info, body: Readable.from([]) };
  }
}

export async function deleteObject(bucket: S3Bucket, key: string): Promise<void> {
  try {
    await bucket.client.send(new DeleteObjectCommand(located(bucket, key)));
  } catch (error) {
    if (!isMissing(asFailure(error))) throw s3Trouble('delete', key, error);
  }
}

function infoOf(operation: string, key: string, found: Described): ObjectInfo {
  const total = found.ContentRange?.match(/\/(\d+)$/)?.[1];
  const size = total === undefined ? found.ContentLength : Number(total);
  if (size === undefined) throw new StoreError(operation, `the answer tells no size of ${key}`);
  return {
    key,
    size,
    modifiedAt: found.LastModified ?? new Date(0),
    contentType: found.ContentType ?? 'application/octet-stream',
    metadata: found.Metadata ?? {},
  };
}

/**
 * A connection that ends early must not look like the end of the object. Besides, a reader who stops half-way
 * destroys this stream and with it the connection, which leaving an answer of Node's client alone does not.
 */
function wholeBody(source: Readable, expected: number, key: string): Readable {
  let received = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      done(null, chunk);
    },
    flush(done) {
      if (received === expected) done();
      else done(new StoreError('read', `${key} ended after ${received} of ${expected} bytes`));
    },
  });
  // Errors arrive at the reader through the destroyed transform; the callback only keeps them from being unhandled.
  return pipeline(source, counted, () => undefined);
}

import { bucketAddress, createS3Client, s3Limits } from '../s3-client.js';
import type { S3StoreOptions } from '../s3-options.js';
import { createAnswerCheck } from '../wire/answer-check.js';
import { S3Sender } from '../wire/s3-sender.js';
import { createServerClock } from '../wire/s3-signer.js';
import { storeConnect } from '../wire/store-connect.js';

export type S3Bucket = Awaited<ReturnType<typeof openBucket>>;

/** Opens a bucket, with the clients and settings that all operations on it share. */
export async function openBucket(options: S3StoreOptions) {
  const { bucket, prefix, settings, onNotice } = options;
  const closing = new AbortController();
  const limits = s3Limits(settings, closing.signal);
  const clock = createServerClock(onNotice);
  const answers = createAnswerCheck(settings.expectedBucketOwner, onNotice, clock);
  const { client, credentials } = createS3Client(settings, limits, answers);
  const address = await bucketAddress(settings, limits, bucket);
  const connect = storeConnect(settings, limits.connectTimeoutMs);
  const sender = new S3Sender({
    credentials,
    address,
    limits,
    answers,
    settings,
    clock,
    connect,
  });
  return {
    client,
    sender,
    clock,
    bucket,
    /** Empty or ending in `/`. */
    prefix,
    settings,
    limits,
    /** Ends connections; requests in flight fail, and are not retried. */
    async close(): Promise<void> {
      closing.abort();
      await sender.close().finally(() => client.destroy());
    },
  };
}

/** The SDK's address of an object. */
export function located(bucket: S3Bucket, key: string): { Bucket: string; Key: string } {
  return { Bucket: bucket.bucket, Key: bucket.prefix + key };
}

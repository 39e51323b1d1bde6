import type { S3Client } from '@aws-sdk/client-s3';
import { bucketAddress, createS3Client, type S3Limits, s3Limits } from '../s3-client.js';
import type { S3Settings, S3StoreOptions } from '../s3-options.js';
import { createAnswerCheck } from '../wire/answer-check.js';
import { S3Sender } from '../wire/s3-sender.js';
import { createServerClock, type ServerClock } from '../wire/s3-signer.js';
import { storeConnect } from '../wire/store-connect.js';

/** A bucket and what all operations on it share. */
export interface S3Bucket {
  readonly client: S3Client;
  readonly sender: S3Sender;
  readonly clock: Pick<ServerClock, 'ahead'>;
  readonly bucket: string;
  /** Empty or ending in `/`. */
  readonly prefix: string;
  readonly settings: S3Settings;
  readonly limits: S3Limits;
  /** Ends connections; requests that are under way fail, and are not repeated. */
  close(): Promise<void>;
}

export async function openBucket(options: S3StoreOptions): Promise<S3Bucket> {
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
  const close = async () => {
    closing.abort();
    await sender.close().finally(() => client.destroy());
  };
  return { client, sender, clock, bucket, prefix, settings, limits, close };
}

/** The SDK's address of an object. */
export function located(bucket: S3Bucket, key: string): { Bucket: string; Key: string } {
  return { Bucket: bucket.bucket, Key: bucket.prefix + key };
}

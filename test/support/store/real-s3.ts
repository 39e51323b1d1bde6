import { randomUUID } from 'node:crypto';
import { CreateBucketCommand, HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { openStore, type StoreOptions } from '../../../src/store/open-store.js';
import type { S3Settings } from '../../../src/store/s3/s3-options.js';
import type { StoreUnderTest } from '../../contract/object-store.js';

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`the S3 suite needs ${name}`);
  return value;
}

/** Settings of the server that the environment names (S3_ENDPOINT, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY). */
export function realS3Settings(): S3Settings & { endpoint: string } {
  return {
    endpoint: required('S3_ENDPOINT'),
    region: process.env.S3_REGION ?? 'us-east-1',
    forcePathStyle: process.env.S3_VIRTUAL_HOSTS !== 'true',
    accessKeyId: required('S3_ACCESS_KEY_ID'),
    secretAccessKey: required('S3_SECRET_ACCESS_KEY'),
  };
}

/** A fresh prefix in the bucket S3_BUCKET, which is made when missing. */
export async function openRealBucket(settings: S3Settings = {}): Promise<StoreUnderTest> {
  const s3 = { ...realS3Settings(), ...settings };
  const bucket = required('S3_BUCKET');
  await ensureBucket(s3, bucket);
  const options: StoreOptions = { url: `s3://${bucket}/test-${randomUUID()}`, partSize: 5 * 1024 * 1024, s3 };
  return { options, dispose: () => removeAll(options) };
}

async function ensureBucket(s3: S3Settings, bucket: string): Promise<void> {
  const client = new S3Client({
    endpoint: s3.endpoint ?? '',
    region: s3.region ?? 'us-east-1',
    forcePathStyle: s3.forcePathStyle ?? false,
    credentials: { accessKeyId: s3.accessKeyId ?? '', secretAccessKey: s3.secretAccessKey ?? '' },
  });
  try {
    await client
      .send(new HeadBucketCommand({ Bucket: bucket }))
      .catch(() => client.send(new CreateBucketCommand({ Bucket: bucket })));
  } finally {
    client.destroy();
  }
}

async function removeAll(options: StoreOptions): Promise<void> {
  const store = await openStore(options);
  await store.sweepUploads(new Date(Date.now() + 3_600_000));
  const keys = await Array.fromAsync(store.list(''), ({ key }) => key);
  while (keys.length > 0) await Promise.all(keys.splice(0, 30).map((key) => store.delete(key)));
  await store.close();
}

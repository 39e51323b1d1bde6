// Waits until the endpoint in S3_ENDPOINT answers, then makes sure that S3_BUCKET exists. Used by ceph-up.sh and by
// users who bring an endpoint without a bucket. The caller sets the time-out.
import { setTimeout as sleep } from 'node:timers/promises';
import { BucketAlreadyOwnedByYou, CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';

const client = new S3Client({
  endpoint: process.env.S3_ENDPOINT,
  region: process.env.S3_REGION ?? 'us-east-1',
  forcePathStyle: true,
  credentials: {
    accessKeyId: process.env.S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: process.env.S3_SECRET_ACCESS_KEY ?? '',
  },
  maxAttempts: 1,
});

for (;;) {
  try {
    await client.send(new CreateBucketCommand({ Bucket: process.env.S3_BUCKET }));
    break;
  } catch (error) {
    if (error instanceof BucketAlreadyOwnedByYou) break;
    if (error.$metadata?.httpStatusCode === 400) throw error;
    await sleep(200);
  }
}

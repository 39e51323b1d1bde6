import { randomUUID } from 'node:crypto';
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  PutBucketVersioningCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.js';
import { probeStore } from '../../src/store/probe/probe-store.js';
import { realS3Settings } from '../support/store/real-s3.js';

/* Conditions may not be atomic in versioned buckets: the message of a rejected bucket has to say so. */

describe('a versioned bucket of a real S3 server', () => {
  const settings = realS3Settings();
  const bucket = `versioned-${randomUUID()}`;
  let client: S3Client;

  beforeEach(async () => {
    client = new S3Client({
      endpoint: settings.endpoint,
      region: settings.region ?? 'us-east-1',
      forcePathStyle: settings.forcePathStyle ?? false,
      credentials: {
        accessKeyId: settings.accessKeyId ?? '',
        secretAccessKey: settings.secretAccessKey ?? '',
      },
    });
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    const VersioningConfiguration = { Status: 'Enabled' as const };
    await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }));
  });
  afterEach(async () => {
    // Old versions may keep it; the server of a test run is thrown away.
    await client.send(new DeleteBucketCommand({ Bucket: bucket })).catch(() => undefined);
    client.destroy();
  });

  it('is trusted or refused, and named as versioned either way', async () => {
    const store = await openStore({ url: `s3://${bucket}`, s3: settings });
    try {
      const { trustworthy, findings } = await probeStore(store);
      const expected = trustworthy ? 'on.' : "on, and Ceph's conditions are not atomic in versioned buckets";
      expect(findings.at(-1)).toContain(`Versioning of the bucket is ${expected}`);
    } finally {
      await store.close();
    }
  });
});

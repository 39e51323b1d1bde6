import { randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  GetBucketLifecycleConfigurationCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  type LifecycleRule,
  PutBucketLifecycleConfigurationCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createQuarantine } from '../../src/archive/quarantine/quarantine.js';
import type { ObjectStore } from '../../src/store/object-store.js';
import { openStore } from '../../src/store/open-store.js';
import { probeStore } from '../../src/store/probe/probe-store.js';
import type { S3Settings } from '../../src/store/s3/s3-options.js';
import { readProjectFile } from '../support/manifests.js';
import {
  archiveOver,
  commit,
  context,
  MEDIA,
  putItem,
  TRANSCRIPT,
} from '../support/store/archive-fixture.js';
import { realS3Settings } from '../support/store/real-s3.js';

/* Object tags, lifecycle rules and checksums as a real S3 server stores them. */

const PART = 5 * 1024 * 1024;
const settings = realS3Settings();
const bucket = `tags-${randomUUID()}`;
const client = new S3Client({
  endpoint: settings.endpoint,
  region: settings.region ?? 'us-east-1',
  forcePathStyle: settings.forcePathStyle ?? false,
  credentials: { accessKeyId: settings.accessKeyId ?? '', secretAccessKey: settings.secretAccessKey ?? '' },
});

async function within<T>(more: S3Settings, work: (store: ObjectStore) => Promise<T>): Promise<T> {
  const store = await openStore({ url: `s3://${bucket}`, partSize: PART, s3: { ...settings, ...more } });
  return work(store).finally(() => store.close());
}

async function tagsOf(key: string): Promise<Record<string, string>> {
  const { TagSet = [] } = await client.send(new GetObjectTaggingCommand({ Bucket: bucket, Key: key }));
  return Object.fromEntries(TagSet.map(({ Key, Value }) => [Key ?? '', Value ?? '']));
}

beforeAll(async () => {
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
});

afterAll(async () => {
  await within({}, async (store) => {
    for (const folder of ['jobs/', 'quarantine/', '.quarantine-jobs/', '.canary/', 'whole-1', 'whole-2'])
      for await (const _ of store.purge(folder));
  });
  await client.send(new DeleteBucketCommand({ Bucket: bucket }));
  client.destroy();
});

describe('object tags on a real S3 server', () => {
  it('stand on what holds content of a job, small and in parts, and on nothing else', async () => {
    await within({ tags: true }, async (store) => {
      expect((await probeStore(store)).trustworthy).toBe(true);
      const { archive } = archiveOver(store);
      const delivery = archive.begin(context({ source: 'intake', jobId: 'j1' }));
      await putItem(delivery, TRANSCRIPT, Buffer.from('{"format":"2"}'));
      await putItem(delivery, MEDIA, Buffer.alloc(PART + 1, 'm'));
      await commit(delivery);
      const request = { source: 'intake', jobId: 'j1', deliveryId: 'd1' } as never;
      await createQuarantine(store).keep(request, Buffer.from('{'));
      await store.replace('.canary/r1', Buffer.from('x'), { contentType: 'text/plain', metadata: {} });
      const tags: Record<string, Record<string, string>> = {};
      for (const prefix of ['', '.canary/', '.quarantine-jobs/'])
        for await (const { key } of store.list(prefix)) tags[key] = await tagsOf(key);
      expect(tags).toMatchObject({
        'jobs/j1/transcript.json': { kind: 'transcript', source: 'intake' },
        'jobs/j1/data': { kind: 'data', source: 'intake' },
        'quarantine/d1/body': { kind: 'quarantine', source: 'intake' },
        'quarantine/d1/request.json': { kind: 'quarantine', source: 'intake' },
        '.quarantine-jobs/j1/d1': {},
        '.canary/r1': {},
      });
    });
  });
});

describe('the shipped lifecycle rules on a real S3 server', () => {
  it.each(['lifecycle.json', 'lifecycle-by-tags.json'])(
    'are taken and kept as they are: %s',
    async (file) => {
      const shipped: { Rules: LifecycleRule[] } = JSON.parse(readProjectFile(`k8s/s3/${file}`));
      const LifecycleConfiguration = shipped;
      await client.send(
        new PutBucketLifecycleConfigurationCommand({ Bucket: bucket, LifecycleConfiguration }),
      );
      const { Rules = [] } = await client.send(
        new GetBucketLifecycleConfigurationCommand({ Bucket: bucket }),
      );
      expect(byId(Rules)).toEqual(byId(shipped.Rules));
    },
  );
});

/** Ceph returns a filter by an empty prefix as the prefix of the rule, which S3 had before filters. */
function byId(rules: readonly LifecycleRule[]): Record<string, unknown> {
  return Object.fromEntries(
    rules.map(({ ID = '', Prefix, Filter = { Prefix }, ...rule }) => [ID, { ...rule, Filter }]),
  );
}

describe('checksums on a real S3 server', () => {
  const BODY = { contentType: 'text/plain', metadata: {} };

  /** The CRC-32 that the server holds, and of what. */
  async function checksumOf(key: string) {
    const head = new HeadObjectCommand({ Bucket: bucket, Key: key, ChecksumMode: 'ENABLED' });
    const { ChecksumCRC32, ChecksumType } = await client.send(head);
    return { ChecksumCRC32, ChecksumType };
  }

  function wholeObject(...bytes: Buffer[]) {
    const expected = Buffer.alloc(4);
    expected.writeUInt32BE(crc32(Buffer.concat(bytes)));
    return { ChecksumCRC32: expected.toString('base64'), ChecksumType: 'FULL_OBJECT' };
  }

  it('are kept with an object that was written at once', async () => {
    await within({ checksum: 'crc32' }, (store) => store.create('whole-1', Buffer.from('small'), BODY));
    expect(await checksumOf('whole-1')).toEqual(wholeObject(Buffer.from('small')));
  });

  it('are those of the whole object after an upload in parts', async () => {
    const parts = [Buffer.alloc(PART, 'a'), Buffer.from('end')];
    await within({ checksum: 'crc32' }, async (store) => {
      const upload = await store.startUpload('whole-2', BODY);
      await Promise.all(parts.map((part) => upload.write(part)));
      expect(await upload.complete()).toBe('created');
    });
    expect(await checksumOf('whole-2')).toEqual(wholeObject(...parts));
  });
});

describe('the expected owner of a bucket on a real S3 server', () => {
  it('is compared: another account is refused, with the setting in the message', async () => {
    await within({ expectedBucketOwner: '123456789012' }, async (store) => {
      const { writable, findings } = await probeStore(store);
      expect(writable).toBe(false);
      expect(findings.join()).toMatch(/not of account 123456789012 \(store\.s3\.expectedBucketOwner\)/);
    });
  });
});

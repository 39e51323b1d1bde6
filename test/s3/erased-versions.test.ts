import { randomUUID } from 'node:crypto';
import {
  CreateBucketCommand,
  type CreateBucketCommandInput,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectLegalHoldCommand,
  PutObjectLockConfigurationCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createErasures } from '../../src/archive/erasure/erasures.js';
import { createQuarantine } from '../../src/archive/quarantine/quarantine.js';
import { newDeliveryId } from '../../src/ledger/ledger-line.js';
import { createLedger } from '../../src/ledger/write/ledger.js';
import { eraseJob } from '../../src/operations/actions/erase/erase-job.js';
import type { ObjectStore } from '../../src/store/object-store.js';
import { openStore } from '../../src/store/open-store.js';
import { probeStore } from '../../src/store/probe/probe-store.js';
import type { S3Settings } from '../../src/store/s3/s3-options.js';
import { archiveOver, context, MEDIA, putItem, TRANSCRIPT } from '../support/store/archive-fixture.js';
import { realS3Settings } from '../support/store/real-s3.js';

/* Erasing and locking on a real S3 server: every version that is left is read and searched. */

const SECRET = 'Jane Roe, 1980-02-03';
const PART = 5 * 1024 * 1024;
const DAY = 86_400_000;

const settings = realS3Settings();
const client = new S3Client({
  endpoint: settings.endpoint,
  region: settings.region ?? 'us-east-1',
  forcePathStyle: settings.forcePathStyle ?? false,
  credentials: { accessKeyId: settings.accessKeyId ?? '', secretAccessKey: settings.secretAccessKey ?? '' },
});

interface Version {
  readonly key: string;
  readonly id: string;
  readonly isMarker: boolean;
}

async function versionsOf(bucket: string): Promise<Version[]> {
  const page = await client.send(new ListObjectVersionsCommand({ Bucket: bucket }));
  expect(page.IsTruncated ?? false).toBe(false);
  const read =
    (isMarker: boolean) => (each: { Key?: string | undefined; VersionId?: string | undefined }) => ({
      key: each.Key ?? '',
      id: each.VersionId ?? 'null',
      isMarker,
    });
  return [...(page.Versions ?? []).map(read(false)), ...(page.DeleteMarkers ?? []).map(read(true))];
}

/** Keys of all versions of which a byte or a header holds the secret, and of open uploads. */
async function traces(bucket: string): Promise<string[]> {
  const found: string[] = [];
  for (const { key, id, isMarker } of await versionsOf(bucket)) {
    if (isMarker) continue;
    const answer = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key, VersionId: id }));
    const bytes = Buffer.from((await answer.Body?.transformToByteArray()) ?? []);
    const headers = decodeURIComponent(JSON.stringify(answer.Metadata));
    if ([key, headers].some((text) => text.includes(SECRET)) || bytes.includes(SECRET)) found.push(key);
  }
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
  return [...found, ...Uploads.map(({ Key }) => `upload ${Key}`)];
}

describe('an erasure on a real S3 server', () => {
  let bucket: string;
  let store: ObjectStore;
  afterEach(async () => {
    await store.close();
    for (const { key, id } of await versionsOf(bucket)) {
      const place = { Bucket: bucket, Key: key, VersionId: id };
      // Versions in compliance mode keep the bucket; the server of a test run is thrown away.
      await client
        .send(new PutObjectLegalHoldCommand({ ...place, LegalHold: { Status: 'OFF' } }))
        .catch(() => undefined);
      await client
        .send(new DeleteObjectCommand({ ...place, BypassGovernanceRetention: true }))
        .catch(() => undefined);
    }
    await client.send(new DeleteBucketCommand({ Bucket: bucket })).catch(() => undefined);
  });

  async function begin(
    more: Partial<CreateBucketCommandInput> = {},
    s3: Partial<S3Settings> = {},
  ): Promise<void> {
    bucket = `erase-${randomUUID()}`;
    await client.send(new CreateBucketCommand({ Bucket: bucket, ...more }));
    store = await openStore({
      url: `s3://${bucket}/some/prefix`,
      partSize: PART,
      s3: { ...settings, ...s3 },
    });
  }

  async function fill(): Promise<void> {
    const { archive } = archiveOver(store, 8);
    for (const text of [SECRET, `${SECRET}!`]) {
      const staged = archive.begin(context({ jobId: 'j1' }));
      await putItem(staged, TRANSCRIPT, Buffer.from(text), `${SECRET}.json`);
      await putItem(staged, MEDIA, Buffer.from(text.repeat(PART / 10)), `${SECRET}.wav`);
      await staged.commit();
    }
    const request = {
      source: 'default',
      region: null,
      clientIp: null,
      method: 'POST',
      query: '',
      headers: {},
    };
    await createQuarantine(store).keep(
      {
        ...request,
        deliveryId: newDeliveryId(),
        receivedAt: '2026-01-02T03:04:05.678Z',
        jobId: 'j1',
        status: 'success',
        reason: 'json-invalid',
        detail: '',
      },
      Buffer.from(SECRET),
    );
    const open = await store.startUpload('jobs/j1/attachments/0.bin', { contentType: 'a/b', metadata: {} });
    await open.write(Buffer.alloc(PART, SECRET));
  }

  const erase = async () => {
    const ledger = createLedger({ store, replica: 'r' });
    try {
      return await eraseJob({ store, ledger, keyPrefixes: ['', 'team/'] }, 'j1', {
        actor: 'ada',
        reason: null,
      });
    } finally {
      await ledger.close();
    }
  };

  async function lockedKeys(): Promise<string[]> {
    const keys: string[] = [];
    for (const { key, id, isMarker } of await versionsOf(bucket)) {
      if (isMarker) continue;
      const head = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key, VersionId: id }));
      if (head.ObjectLockMode !== undefined) keys.push(key);
    }
    return keys;
  }

  it('leaves no version and no upload in a versioned bucket, also of what was deleted before', async () => {
    await begin();
    await store.create('jobs/j1/older', Buffer.from(SECRET), { contentType: 'a/b', metadata: {} });
    const VersioningConfiguration = { Status: 'Enabled' as const };
    await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }));
    await fill();
    await store.delete('jobs/j1/data');
    await store.delete('jobs/j1/older');
    expect((await traces(bucket)).length).toBeGreaterThan(6);
    const erasure = await erase();
    expect(erasure).toMatchObject({ complete: true, kept: null, erased: { uploads: 1, quarantined: 1 } });
    expect(await traces(bucket)).toEqual([]);
    const left = (await versionsOf(bucket)).map(({ key }) => key);
    expect(left.filter((key) => /jobs\/|quarantine\//.test(key))).toEqual([]);
    // What comes later leaves no trace either.
    const { archive } = archiveOver(store, 8);
    const staged = archive.begin(context({ jobId: 'j1' }));
    await putItem(staged, TRANSCRIPT, Buffer.from(SECRET));
    expect(await staged.commit(createErasures(store).has)).toBeNull();
    await staged.discard();
    expect(await traces(bucket)).toEqual([]);
  });

  it('leaves nothing in a bucket whose versioning was suspended', async () => {
    await begin();
    for (const Status of ['Enabled', 'Suspended'] as const)
      await client.send(
        new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration: { Status } }),
      );
    await fill();
    expect(await erase()).toMatchObject({ complete: true });
    expect(await traces(bucket)).toEqual([]);
  });

  it.each(['GOVERNANCE', 'COMPLIANCE'] as const)(
    'reports what a lock in mode %s keeps, and until when',
    async (mode) => {
      const lock = { mode, days: 1, folders: ['ledger/'] };
      // Conditions of this server are not atomic in versioned buckets, which a locked one is.
      await begin({ ObjectLockEnabledForBucket: true }, { lock, conditionalWrites: 'emulated' });
      expect(await probeStore(store)).toMatchObject({ writable: true, warnings: [] });
      await fill();
      const { complete, kept, erased } = await erase();
      // Two artefacts and two conflicts; the quarantine is not locked.
      expect({ complete, kept, erased }).toMatchObject({
        complete: false,
        kept: { versions: 4, reasons: ['retention'] },
        erased: { artefacts: 0, quarantined: 1, uploads: 1 },
      });
      const until = Date.parse(kept?.until ?? '');
      expect(Math.abs(until - Date.now() - DAY)).toBeLessThan(120_000);
      // Hidden from everyone who does not ask for versions, also after another erasure.
      expect(await erase()).toMatchObject({ complete: false, kept: { versions: 4 } });
      for await (const { key } of store.list('')) expect(key).not.toMatch(/^jobs\//);
      const locked = await lockedKeys();
      expect(locked.filter((key) => key.startsWith('some/prefix/ledger/')).length).toBeGreaterThan(0);
      expect(locked.filter((key) => !/prefix\/(jobs|ledger)\//.test(key))).toEqual([]);
      if (mode === 'COMPLIANCE') return;
      // As if the retention had ended.
      for (const { key, id } of (await versionsOf(bucket)).filter(
        (each) => !each.isMarker && /jobs\//.test(each.key),
      ))
        await client.send(
          new DeleteObjectCommand({
            Bucket: bucket,
            Key: key,
            VersionId: id,
            BypassGovernanceRetention: true,
          }),
        );
      expect(await erase()).toMatchObject({ complete: true, kept: null });
      expect((await versionsOf(bucket)).filter(({ key }) => /jobs\//.test(key))).toEqual([]);
    },
  );

  it('reports a legal hold, and completes when it is lifted', async () => {
    await begin({ ObjectLockEnabledForBucket: true }, { conditionalWrites: 'emulated' });
    await fill();
    const [held] = (await versionsOf(bucket)).filter(({ key }) => key.endsWith('jobs/j1/transcript.json'));
    const place = { Bucket: bucket, Key: held?.key, VersionId: held?.id };
    await client.send(new PutObjectLegalHoldCommand({ ...place, LegalHold: { Status: 'ON' } }));
    const kept = { versions: 1, reasons: ['legal-hold'], until: null };
    expect(await erase()).toMatchObject({ complete: false, kept });
    await client.send(new PutObjectLegalHoldCommand({ ...place, LegalHold: { Status: 'OFF' } }));
    expect(await erase()).toMatchObject({ complete: true, kept: null });
    expect(await traces(bucket)).toEqual([]);
  });

  it('locks nothing of the probe, and warns of a default retention, which does', async () => {
    await begin({ ObjectLockEnabledForBucket: true }, { conditionalWrites: 'emulated', checksum: 'crc32' });
    await client.send(
      new PutObjectLockConfigurationCommand({
        Bucket: bucket,
        ObjectLockConfiguration: {
          ObjectLockEnabled: 'Enabled',
          Rule: { DefaultRetention: { Mode: 'GOVERNANCE', Days: 1 } },
        },
      }),
    );
    const { writable, warnings } = await probeStore(store);
    expect(writable).toBe(true);
    expect(warnings.join()).toMatch(/locks every new object \(governance for 1 days\)/);
  });

  it('does not take a lock in a bucket that has none', async () => {
    await begin({}, { lock: { mode: 'GOVERNANCE', days: 1, folders: [] } });
    const { writable, findings } = await probeStore(store);
    expect([writable, findings.join()]).toEqual([false, expect.stringContaining('without Object Lock')]);
  });
});

import { hash, randomBytes, randomUUID } from 'node:crypto';
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { copyStore } from '../../src/operations/actions/copy/copy-store.js';
import { copyFault } from '../../src/operations/actions/copy/copy-target.js';
import type { ObjectHeaders, ObjectStore } from '../../src/store/object-store.js';
import { openStore } from '../../src/store/open-store.js';
import { readToEnd } from '../../src/store/read-to-end.js';
import type { S3Settings } from '../../src/store/s3/s3-options.js';
import { realS3Settings } from '../support/store/real-s3.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/* A store that moves on a real S3 server: from a folder into a bucket, on to another bucket, and back. */

const PART = 5 * 1024 * 1024;
const settings = realS3Settings();
const client = new S3Client({
  endpoint: settings.endpoint,
  region: settings.region ?? 'us-east-1',
  forcePathStyle: settings.forcePathStyle ?? false,
  credentials: { accessKeyId: settings.accessKeyId ?? '', secretAccessKey: settings.secretAccessKey ?? '' },
});

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let opened: ObjectStore[];
let buckets: string[];

beforeEach(async () => {
  folder = await temporaryFolder();
  [opened, buckets] = [[], []];
});
afterEach(async () => {
  for (const store of opened) await store.close();
  for (const bucket of buckets) await removeBucket(bucket);
  await folder.remove();
});

async function removeBucket(bucket: string): Promise<void> {
  const { Versions = [], DeleteMarkers = [] } = await client.send(
    new ListObjectVersionsCommand({ Bucket: bucket }),
  );
  for (const { Key, VersionId } of [...Versions, ...DeleteMarkers])
    await client
      .send(new DeleteObjectCommand({ Bucket: bucket, Key, VersionId, BypassGovernanceRetention: true }))
      .catch(() => undefined);
  // Locked versions may keep it; the server of a test run is thrown away.
  await client.send(new DeleteBucketCommand({ Bucket: bucket })).catch(() => undefined);
}

async function open(url: string, s3: S3Settings = settings): Promise<ObjectStore> {
  const store = await openStore({ url, partSize: PART, s3, fsync: false });
  opened.push(store);
  return store;
}

async function newBucket(options: { readonly ObjectLockEnabledForBucket?: boolean } = {}): Promise<string> {
  const bucket = `copy-${randomUUID()}`;
  await client.send(new CreateBucketCommand({ Bucket: bucket, ...options }));
  buckets.push(bucket);
  return bucket;
}

const run = (from: ObjectStore, to: ObjectStore) =>
  copyStore({
    from,
    to,
    deep: true,
    acceptMissing: false,
    canaryAge: 0,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });

async function contentsOf(store: ObjectStore): Promise<Record<string, unknown>> {
  const contents: Record<string, unknown> = {};
  for (const prefix of ['', '.erasures/'])
    for await (const { key } of store.list(prefix)) {
      const reading = await store.read(key);
      const bytes = reading === null ? null : hash('sha256', await readToEnd(reading));
      contents[key] = [bytes, reading?.info.contentType, reading?.info.metadata];
    }
  return contents;
}

function headersOf(kind: string, body?: Buffer): ObjectHeaders {
  const metadata = { 'job-id': 'j1', kind, source: 'intake', 'file-name': 'a%20b.wav' };
  return {
    contentType: 'audio/wav',
    metadata: body === undefined ? metadata : { ...metadata, sha256: hash('sha256', body) },
  };
}

async function fill(store: ObjectStore): Promise<void> {
  const small = Buffer.from('{"format":"2.9"}');
  const large = randomBytes(2 * PART + 7);
  await store.create('jobs/j1/transcript.json', small, headersOf('transcript.json-v2', small));
  await store.create('jobs/j1/attachments/ä +%?#&.txt', small, headersOf('attachment', small));
  await store.create('team/jobs/j2/data', Buffer.alloc(0), headersOf('data'));
  const upload = await store.startUpload('jobs/j3/data', headersOf('data'));
  for (let at = 0; at < large.length; at += PART) await upload.write(large.subarray(at, at + PART));
  await upload.complete();
  await store.create('.erasures/j9.json', small, { contentType: 'application/json', metadata: {} });
}

describe('copy-store on a real S3 server', () => {
  it('copies a folder to a bucket, on to a prefix of another one, and back into a folder', async () => {
    const source = await open(`file:${folder.path}/data`);
    await fill(source);
    const first = await open(`s3://${await newBucket()}`, { ...settings, tags: true });
    const second = await open(`s3://${await newBucket()}/a/prefix`, { ...settings, checksum: 'crc32' });
    const back = await open(`file:${folder.path}/back`);
    const expected = await contentsOf(source);
    for (const [from, to] of [
      [source, first],
      [first, second],
      [second, back],
    ] as const) {
      expect(await copyFault(from, to, 0)).toBeNull();
      expect(await run(from, to)).toMatchObject({ copied: 5, verified: 5, faultCount: 0, finished: true });
      expect(await contentsOf(to)).toEqual(expected);
      expect(await run(from, to)).toMatchObject({ copied: 0, there: 5, faultCount: 0 });
    }
    expect(await first.tags?.('jobs/j3/data')).toEqual({ kind: 'data', source: 'intake' });
    const ids = await Promise.all([source, first, second, back].map((store) => store.identity()));
    expect(new Set(ids).size).toBe(4);
  });

  it('copies into a bucket with versions and locks, and removes what was erased since with its versions', async () => {
    const source = await open(`file:${folder.path}/data`);
    await fill(source);
    const bucket = await newBucket({ ObjectLockEnabledForBucket: true });
    const lock = { mode: 'GOVERNANCE', days: 1, folders: ['ledger/'] } as const;
    const to = await open(`s3://${bucket}/store`, { ...settings, lock, conditionalWrites: 'emulated' });
    await source.create('reports/verify/1.json', Buffer.from('{}'), {
      contentType: 'application/json',
      metadata: {},
    });
    expect(await run(source, to)).toMatchObject({ copied: 6, faultCount: 0, finished: true });
    const head = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'store/jobs/j3/data' }));
    expect(head.ObjectLockMode).toBe('GOVERNANCE');

    await source.delete('jobs/j1/transcript.json');
    await source.delete('reports/verify/1.json');
    await source.create('.erasures/j1.json', Buffer.from('{}'), {
      contentType: 'application/json',
      metadata: {},
    });
    const report = await run(source, to);
    expect(report).toMatchObject({ copied: 1, there: 4, removed: 1, finished: false });
    expect(report.faults).toEqual([
      { key: 'jobs/j1/transcript.json', reason: expect.stringMatching(/kept in the copy until .*retention/) },
    ]);
    expect(await contentsOf(to)).toEqual(await contentsOf(source));
    const left = await client.send(
      new ListObjectVersionsCommand({ Bucket: bucket, Prefix: 'store/reports/' }),
    );
    expect([...(left.Versions ?? []), ...(left.DeleteMarkers ?? [])]).toEqual([]);
  });
});

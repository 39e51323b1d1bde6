import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ObjectStore } from '../../../../src/store/object-store.js';
import { openStore } from '../../../../src/store/open-store.js';
import { probeStore } from '../../../../src/store/probe/probe-store.js';
import type { S3Settings } from '../../../../src/store/s3/s3-options.js';
import { openStandInStore, type StandInStore } from '../../../support/store/stand-in-store.js';

/** A busy machine can take longer for a call than the probe waits for a store. */
const PATIENCE = 600_000;
const probe = (store: ObjectStore) => probeStore(store, PATIENCE);
/** With as few races of writers as on files. */
const probeBriefly = (store: ObjectStore) => probe({ ...store, location: 'file:' });

describe('probing a store', () => {
  const cleanUps: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0)) await cleanUp();
  });

  async function standInStore(settings: S3Settings = {}): Promise<StandInStore> {
    const under = await openStandInStore({ retries: 0, requestTimeoutMs: PATIENCE, ...settings });
    cleanUps.push(under.close);
    return under;
  }

  async function fileStore(): Promise<{ store: ObjectStore; folder: string }> {
    const folder = await mkdtemp(join(tmpdir(), 'probe-'));
    cleanUps.push(() => rm(folder, { recursive: true }));
    return { store: await openStore({ url: `file:${folder}/store` }), folder };
  }

  it('trusts the file store and leaves no folder behind', async () => {
    const { store, folder } = await fileStore();
    expect((await probe(store)).trustworthy).toBe(true);
    expect((await readdir(`${folder}/store`)).filter((name) => name === '.probe')).toEqual([]);
  });

  it('names an S3 that ignores conditions', async () => {
    const { store, standIn } = await standInStore();
    standIn.ignoreConditions = true;
    const report = await probeBriefly(store);
    expect(report).toMatchObject({
      writable: true,
      conditionalPut: 'ignored',
      conditionalComplete: 'ignored',
      trustworthy: false,
    });
    expect(report.findings.join(' ')).toMatch(/ignores the condition/);
    expect(standIn.state.objects.size + standIn.state.uploads.size).toBe(0);
  });

  it('names an S3 that refuses and overwrites nevertheless', async () => {
    const { store, standIn } = await standInStore();
    standIn.misbehave = ({ operation, key, attempt }) => {
      const isSecond = operation === 'PutObject' && key.endsWith('/twice') && attempt === 2;
      const isLate = operation === 'CompleteUpload' && key.endsWith('/upload-taken');
      standIn.ignoreConditions = isSecond || isLate;
      if (!isSecond && !isLate) return null;
      return { kind: 'answer', status: 412, code: 'PreconditionFailed', done: true };
    };
    expect(await probe(store)).toMatchObject({
      conditionalPut: 'ignored',
      conditionalComplete: 'ignored',
      trustworthy: false,
    });
  });

  it('names an S3 whose condition is not atomic', async () => {
    const { store, standIn } = await standInStore();
    // Looks when the request arrives and writes later, as a gateway over an eventually consistent store does.
    const there = new Set<string>();
    standIn.ignoreConditions = true;
    standIn.misbehave = ({ operation, key, attempt }) => {
      const isWrite = operation === 'PutObject' || operation === 'CompleteUpload';
      if (!isWrite) return null;
      if (there.has(key)) return { kind: 'answer', status: 412, code: 'PreconditionFailed' };
      // The first three get in, for each raced key.
      if (attempt === 3 || !key.includes('race')) there.add(key);
      return null;
    };
    const report = await probe(store);
    expect(report).toMatchObject({ conditionalPut: 'racy', conditionalComplete: 'racy', trustworthy: false });
  });

  it('names an S3 that is atomic only by chance', async () => {
    const { store, standIn } = await standInStore();
    standIn.misbehave = ({ operation, key }) => {
      const raced = /\/race-(\d+)$/.exec(key);
      // The writers of every fourth race meet.
      standIn.ignoreConditions = operation === 'PutObject' && raced !== null && Number(raced[1]) % 4 === 3;
      return null;
    };
    expect(await probe(store)).toMatchObject({ conditionalPut: 'racy', trustworthy: false });
  });

  it.each(['Enabled', 'Suspended'] as const)(
    'says that versioning is %s, which changes conditions',
    async (state) => {
      const { store, standIn } = await standInStore();
      standIn.state.versioning = state;
      const word = state === 'Enabled' ? 'on' : 'suspended';
      expect((await probeBriefly(store)).findings.at(-1)).toBe(`Versioning of the bucket is ${word}.`);
      standIn.ignoreConditions = true;
      expect((await probeBriefly(store)).findings.at(-1)).toMatch(
        new RegExp(`is ${word}, and Ceph's conditions are not atomic in versioned buckets`),
      );
    },
  );

  it('says what a default retention of the bucket costs, and trusts it nevertheless', async () => {
    const { store, standIn } = await standInStore();
    expect((await probeBriefly(store)).warnings).toEqual([]);
    Object.assign(standIn.state, { objectLock: true, defaultRetention: 30 });
    const { trustworthy, warnings } = await probeBriefly(store);
    expect(trustworthy).toBe(true);
    expect(warnings.join()).toMatch(/locks every new object \(governance for 30 days\).*canary.*8,640/);
  });

  it('takes an S3 with tags that keeps them, and removes what it wrote', async () => {
    const { store, standIn } = await standInStore({ tags: true });
    expect((await probeBriefly(store)).trustworthy).toBe(true);
    const tagged = standIn.requests.filter(({ headers }) => headers['x-amz-tagging'] !== undefined);
    expect(tagged.map(({ operation }) => operation)).toEqual(['PutObject', 'CreateUpload']);
    expect(standIn.state.objects.size + standIn.state.uploads.size).toBe(0);
  });

  it.each<[string, string, RegExp]>([
    ['refuses them', 'PutObject', /cannot be written.*s3:PutObjectTagging .*403 AccessDenied/],
    ['refuses them in parts', 'CreateUpload', /cannot be written.*s3:PutObjectTagging .*403 AccessDenied/],
    ['hides them', 'GetTagging', /cannot be read back.*s3:GetObjectTagging .*403 AccessDenied/],
  ])('does not take an S3 with tags that %s', async (_, refused, message) => {
    const { store, standIn } = await standInStore({ tags: true });
    standIn.misbehave = ({ operation, headers }) =>
      operation === refused && (headers['x-amz-tagging'] !== undefined || refused === 'GetTagging')
        ? { kind: 'answer', status: 403, code: 'AccessDenied' }
        : null;
    const report = await probe(store);
    expect(report.writable).toBe(false);
    expect(report.findings.join()).toMatch(message);
    expect(standIn.state.objects.size + standIn.state.uploads.size).toBe(0);
  });

  it.each(['tagged', 'tagged-in-parts'])('does not take an S3 that ignores the tags of %s', async (name) => {
    const { store, standIn } = await standInStore({ tags: true });
    standIn.misbehave = ({ operation, key }) => {
      const object = standIn.state.objects.get(key);
      if (operation === 'GetTagging' && key.endsWith(`/${name}`)) delete object?.headers['x-amz-tagging'];
      return null;
    };
    expect((await probeBriefly(store)).findings.join()).toMatch(/does not keep object tags/);
  });

  it('does not take a bucket without Object Lock that is to be locked', async () => {
    const place = await openStandInStore({ lock: { mode: 'GOVERNANCE', days: 1, folders: [] } });
    try {
      const refused = await probeBriefly(place.store);
      expect(refused.writable).toBe(false);
      expect(refused.findings.join()).toMatch(/store\.s3\.lock is set.*without Object Lock/);
      place.standIn.state.objectLock = true;
      expect((await probeBriefly(place.store)).trustworthy).toBe(true);
    } finally {
      await place.close();
    }
  });

  it('reports nothing about versioning that it may not read', async () => {
    const { store, standIn } = await standInStore();
    standIn.misbehave = ({ operation }) =>
      operation === 'GetVersioning' ? { kind: 'answer', status: 403, code: 'AccessDenied' } : null;
    expect((await probeBriefly(store)).findings).toHaveLength(3);
  });

  it.each(['DeleteObject', 'AbortUpload', 'ListParts', 'ListUploads'])(
    'uses a bucket that denies %s, without which only leftovers stay',
    async (name) => {
      const { store, standIn } = await standInStore();
      standIn.misbehave = ({ operation }) =>
        operation === name ? { kind: 'answer', status: 403, code: 'AccessDenied' } : null;
      expect(await probeBriefly(store)).toMatchObject({ writable: true, trustworthy: true });
    },
  );

  it('distinguishes an S3 that rejects conditions from one that ignores them', async () => {
    const { store, standIn } = await standInStore();
    standIn.misbehave = ({ operation, attempt, key }) => {
      const isFirst = operation !== 'PutObject' || (attempt === 1 && key.endsWith('/write'));
      return isFirst ? null : { kind: 'answer', status: 501, code: 'NotImplemented' };
    };
    const report = await probeBriefly(store);
    expect(report).toMatchObject({ writable: true, conditionalPut: 'refused', trustworthy: false });
  });

  it('says that a store became full meanwhile, not that it refuses conditions', async () => {
    const { store, standIn } = await standInStore();
    standIn.misbehave = ({ operation }) =>
      operation === 'UploadPart' ? { kind: 'answer', status: 507, code: 'InsufficientStorage' } : null;
    const report = await probeBriefly(store);
    expect(report).toMatchObject({ writable: false, condition: 'full', trustworthy: false });
    expect(report.findings.join()).not.toContain('condition');
  });

  it.each([
    ['refuses', { kind: 'answer', status: 403, code: 'AccessDenied' } as const, /access denied/],
    ['hangs up', { kind: 'reset' } as const, /create/],
  ])('reports a store that %s instead of throwing', async (_, fault, message) => {
    const { store, standIn } = await standInStore();
    standIn.misbehave = () => fault;
    const report = await probeBriefly(store);
    expect(report).toMatchObject({ writable: false, conditionalPut: 'untested', trustworthy: false });
    expect(report.findings[0]).toMatch(message);
  });

  it('reports a folder that cannot be one', async () => {
    const { store, folder } = await fileStore();
    await writeFile(`${folder}/store`, 'a file');
    expect((await probe(store)).writable).toBe(false);
  });
});

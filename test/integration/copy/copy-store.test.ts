import { hash, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readBack } from '../../../src/archive/read-back.js';
import { type CopyOptions, copyStore } from '../../../src/operations/actions/copy/copy-store.js';
import { copyFault } from '../../../src/operations/actions/copy/copy-target.js';
import type { ObjectHeaders, ObjectStore } from '../../../src/store/object-store.js';
import { openStore } from '../../../src/store/open-store.js';
import { markCopyServed, readCopyMark } from '../../../src/store/probe/copy-mark.js';
import { type FaultProxy, startFaultProxy } from '../../support/store/fault-proxy.js';
import { partialListings } from '../../support/store/partial-listings.js';
import type { S3StandIn } from '../../support/store/s3-stand-in.js';
import { openStandInPlace } from '../../support/store/stand-in-store.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/* Copies between folders and an S3 stand-in, over real sockets. */

const PART = 64 * 1024;

let from: ObjectStore;
let to: ObjectStore;
let standIn: S3StandIn;
let bucket: Awaited<ReturnType<typeof openStandInPlace>>;
let proxy: FaultProxy;
let folders: Awaited<ReturnType<typeof temporaryFolder>>[];

async function openFolder(): Promise<ObjectStore> {
  const folder = await temporaryFolder();
  folders.push(folder);
  return openStore({ url: `file:${folder.path}`, partSize: PART, fsync: false });
}

beforeEach(async () => {
  folders = [];
  from = await openFolder();
  bucket = await openStandInPlace({ retryDelayMs: 1, retries: 2 });
  standIn = bucket.standIn;
  proxy = await startFaultProxy(standIn.endpoint);
  const s3 = { ...bucket.options.s3, endpoint: proxy.url, tags: true };
  to = { ...(await openStore({ ...bucket.options, s3 })), partSize: PART };
});
afterEach(async () => {
  await from.close();
  await to.close();
  await proxy.close();
  await bucket.dispose();
  for (const folder of folders) await folder.remove();
});

const PLAIN: ObjectHeaders = { contentType: 'application/json', metadata: {} };
const put = (key: string, body: Buffer | string, headers = PLAIN, store = from) =>
  store.replace(key, Buffer.from(body), headers);

async function contentsOf(store: ObjectStore, folder = ''): Promise<Record<string, string>> {
  const contents: Record<string, string> = {};
  for await (const { key } of store.list(folder)) {
    const found = await readBack(store, key);
    contents[key] = JSON.stringify([found?.sha256, found?.info.contentType, found?.info.metadata]);
  }
  return contents;
}

const run = (options: Partial<CopyOptions> = {}) =>
  copyStore({
    from,
    to,
    deep: false,
    acceptMissing: false,
    canaryAge: 0,
    signal: new AbortController().signal,
    onProgress: () => undefined,
    ...options,
  });

const written = () =>
  standIn.requests
    .filter(({ operation }) => operation === 'PutObject' || operation === 'CompleteMultipartUpload')
    .map(({ key }) => key.replace(/^some\/prefix\//, ''));

/** Artefact of a job as the archive writes it. */
function artefact(body: Buffer, isHashed = true): ObjectHeaders {
  const metadata = { 'job-id': 'j1', kind: 'data', source: 'intake', 'file-name': 'M%C3%BCller.wav' };
  return {
    contentType: 'audio/wav',
    metadata: isHashed ? { ...metadata, sha256: hash('sha256', body) } : metadata,
    content: { kind: 'data', source: 'intake' },
  };
}

describe('copyStore', () => {
  it('copies bytes, types, metadata and tags, marks of erasure first, and neither claims nor canaries', async () => {
    const large = randomBytes(PART + 1);
    await put('jobs/j1/data', large, artefact(large, false));
    await put('team-a/jobs/j2/transcript.json', '{}', artefact(Buffer.from('{}')));
    await put('jobs/j3/data', '', artefact(Buffer.alloc(0)));
    for (const key of [
      '.erasures/j9.json',
      '.erasure-log/01J-j9',
      '.erasure-log/last',
      '.ended/j8/intake.json',
    ])
      await put(key, key);
    for (const key of [
      'outbox/crm/state.json',
      'outbox/crm/dead/e1.json',
      'outbox/crm/sent/dt=1/a',
      '.notices/state.json',
    ])
      await put(key, key);
    for (const key of [
      '.canary/r-1',
      '.probe/x',
      '.conflicts/jobs/j1/conflicts/data.0',
      '.notices/claim-000000001.json',
    ])
      await put(key, key);
    await put('outbox/crm/claim-000000003.json', '{}');
    await put('replays/01J/items.json', '{}');

    expect(await run({ deep: true })).toMatchObject({
      faultCount: 0,
      copied: 12,
      verified: 12,
      finished: true,
    });
    for (const folder of ['', '.erasures/', '.erasure-log/', '.ended/', '.notices/']) {
      const expected = await contentsOf(from, folder);
      for (const key of Object.keys(expected)) if (/\/claim-\d+\.json$/.test(key)) delete expected[key];
      expect(await contentsOf(to, folder)).toEqual(expected);
    }
    for (const folder of ['.canary/', '.probe/', '.conflicts/'])
      expect(await contentsOf(to, folder)).toEqual({});
    expect(await to.tags?.('jobs/j1/data')).toEqual({ kind: 'data', source: 'intake' });
    const order = written().filter((key) => !key.startsWith('.store/'));
    expect(order.slice(0, 3).sort()).toEqual([
      '.erasure-log/01J-j9',
      '.erasure-log/last',
      '.erasures/j9.json',
    ]);
    const creations = standIn.requests.filter(
      ({ operation, key }) => operation === 'PutObject' && !key.includes('.store/copy.json'),
    );
    expect(creations.every(({ headers }) => headers['if-none-match'] === '*')).toBe(true);
  });

  it('copies back into a folder, keys with any character among them', async () => {
    const names = ['ä ö', '%41', 'a+b', 'q?x=1#y', "it's", '日本', '😀', '~', 'x'.repeat(255)];
    for (const name of names) await put(`jobs/j1/attachments/${name}`, name);
    await put(`jobs/${'a/'.repeat(10)}deep`, 'deep');
    expect(await run({ deep: true })).toMatchObject({ faultCount: 0, copied: names.length + 1 });
    const back = await openFolder();
    expect(await run({ from: to, to: back, deep: true })).toMatchObject({ faultCount: 0 });
    expect(await contentsOf(back)).toEqual(await contentsOf(from));
    await back.close();
  });

  it('names what cannot be in a folder, and copies the rest', async () => {
    await put('jobs/j1/data', 'a file', PLAIN, to);
    await put('jobs/j1/data/x', 'in a folder of its name', PLAIN, to);
    await put('jobs/j2/data', 'ok', PLAIN, to);
    const folder = await openFolder();
    const report = await run({ from: to, to: folder });
    expect(report).toMatchObject({ faultCount: 1, finished: false });
    expect(report.faults[0]?.key).toMatch(/^jobs\/j1\/data/);
    expect((await readCopyMark(folder))?.finishedAt).toBeNull();
    await expect(markCopyServed(folder)).rejects.toThrow(/unfinished copy of s3:.*run copy-store again/);
    expect(await run({ from: to, to: folder, acceptMissing: true })).toMatchObject({
      there: 2,
      finished: true,
    });
    await markCopyServed(folder);
    await folder.close();
  });

  it('writes nothing again that is there, and what has changed since, also in the same size', async () => {
    await put('outbox/crm/state.json', '{"n":1}');
    await put('jobs/j1/transcript.json', 'old', artefact(Buffer.from('old')));
    const media = randomBytes(PART + 1);
    await put('jobs/j2/data', media, artefact(media, false));
    expect(await run()).toMatchObject({ copied: 3 });
    expect(await run()).toMatchObject({ copied: 0, there: 3, faultCount: 0 });
    media[0] = (media[0] ?? 0) ^ 1;
    await put('jobs/j2/data', media, artefact(media, false));
    await put('outbox/crm/state.json', '{"n":2}');
    await put('jobs/j1/transcript.json', 'new', artefact(Buffer.from('new')));
    expect(await run({ deep: true })).toMatchObject({ copied: 3, there: 0, faultCount: 0 });
    expect(await contentsOf(to)).toEqual(await contentsOf(from));
  });

  it('removes what was erased since, with its old versions, and says what a lock keeps', async () => {
    standIn.state.versioning = 'Enabled';
    await put('jobs/j1/data', 'secret');
    await put('jobs/j2/data', 'kept');
    await put('jobs/j3/data', 'locked');
    expect(await run()).toMatchObject({ copied: 3, faultCount: 0 });
    const locked = standIn.state.versions.find(({ key }) => key.endsWith('jobs/j3/data'));
    const until = new Date(Date.now() + 86_400_000).toISOString();
    standIn.state.locked.set(locked?.versionId ?? '', {
      'x-amz-object-lock-mode': 'COMPLIANCE',
      'x-amz-object-lock-retain-until-date': until,
    });
    for (const id of ['j1', 'j3']) {
      await put(`.erasures/${id}.json`, '{}');
      await from.delete(`jobs/${id}/data`);
    }
    const report = await run();
    expect(report).toMatchObject({ copied: 2, removed: 1, there: 1, faultCount: 1 });
    expect(report.faults).toEqual([
      {
        key: 'jobs/j3/data',
        reason: expect.stringMatching(/^it is not in the source any more, and is kept .*until/),
      },
    ]);
    expect(Object.keys(await contentsOf(to))).toEqual(['jobs/j2/data']);
    expect(standIn.state.versions.filter(({ key }) => key.endsWith('jobs/j1/data'))).toEqual([]);
  });

  it('removes nothing that the source has and its listing leaves out, and is not whole then', async () => {
    await put('.erasures/j9.json', '{}');
    for (const job of ['j1', 'j2']) await put(`jobs/${job}/data`, 'x');
    expect(await run()).toMatchObject({ finished: true, copied: 3 });
    const before = await contentsOf(to);
    const isLeftOut = (key: string) => key.startsWith('.erasures/') || key.startsWith('jobs/j2/');
    const { finished, removed, faults } = await run({ from: partialListings(from, isLeftOut) });
    expect({ finished, removed }).toEqual({ finished: false, removed: 0 });
    expect(faults).toContainEqual({ key: 'jobs/j2/data', reason: expect.stringContaining('is not whole') });
    expect(faults.map(({ key }) => key)).toContain('.erasures/j9.json');
    expect(await contentsOf(to)).toEqual(before);
    expect(await run()).toMatchObject({ finished: true, copied: 0, removed: 0 });
  });

  it('never writes bytes that are not those of their hash, and names them', async () => {
    const claimed = artefact(Buffer.from('right'));
    await put('jobs/j1/data', 'wrong', claimed);
    await put('jobs/j2/data', 'right', claimed);
    const report = await run();
    expect(report.faults).toEqual([
      {
        key: 'jobs/j1/data',
        reason: expect.stringMatching(/^copy: its bytes are not those that its metadata names/),
      },
    ]);
    expect(Object.keys(await contentsOf(to))).toEqual(['jobs/j2/data']);
    expect(report.finished).toBe(false);
  });

  it('names any number of objects that it may not write, and copies the others', async () => {
    for (let index = 0; index < 40; index += 1) await put(`quarantine/${index}/body`, 'body');
    await put('reports/verify/one.json', '{}');
    proxy.fault = ({ method, url }) =>
      method === 'PUT' && url.includes('/quarantine/')
        ? { kind: 'answer', status: 403, code: 'AccessDenied' }
        : null;
    const report = await run();
    expect(report).toMatchObject({ copied: 1, faultCount: 40, finished: false });
    expect(Object.keys(await contentsOf(to))).toEqual(['reports/verify/one.json']);
    expect(await run({ acceptMissing: true })).toMatchObject({ faultCount: 40, finished: true });
  });

  it('gets over requests and answers that are lost, and ends with an error while the store is away', async () => {
    const bodies = Array.from({ length: 15 }, () => randomBytes(2000));
    for (const [index, body] of bodies.entries()) await put(`jobs/j${index}/data`, body, artefact(body));
    const media = randomBytes(PART + 1);
    await put('jobs/media/data', media, artefact(media, false));
    proxy.fault = ({ method, count }) => {
      if (method !== 'GET' && method !== 'PUT') return null;
      if (count % 7 === 0) return { kind: 'loseAnswer' };
      return count % 11 === 0 ? { kind: 'reset' } : null;
    };
    expect(await run({ deep: true })).toMatchObject({ faultCount: 0, copied: 16, verified: 16 });
    expect(await contentsOf(to)).toEqual(await contentsOf(from));

    let isAway = false;
    proxy.fault = ({ method, url }) => {
      isAway ||= method === 'PUT' && url.includes('/jobs/');
      return isAway ? { kind: 'answer', status: 503, code: 'SlowDown' } : null;
    };
    for (let index = 0; index < 50; index += 1) await put(`jobs/new${index}/data`, 'new');
    await expect(run()).rejects.toThrow(/objects in a row failed/);
    expect(standIn.requests.length).toBeLessThan(2000);
    proxy.fault = () => null;
    expect(await run()).toMatchObject({ copied: 50, there: 16, faultCount: 0 });
  });

  it('reads a body that breaks off once more', async () => {
    // Of a smaller one nothing arrives before the connection is reset, and the request is repeated below this.
    await put('jobs/media/data', randomBytes(4 * 1024 * 1024), PLAIN, to);
    let isCut = false;
    proxy.fault = ({ method, url }) => {
      if (method !== 'GET' || !url.endsWith('/jobs/media/data') || isCut) return null;
      isCut = true;
      return { kind: 'cutAnswer', bytes: 3 * 1024 * 1024 };
    };
    expect(await run({ from: to, to: await openFolder() })).toMatchObject({ copied: 1, faultCount: 0 });
  });

  it('stops when it is told to, and continues', async () => {
    for (let index = 0; index < 40; index += 1) await put(`jobs/j${index}/data`, `${index}`);
    const stop = new AbortController();
    const onProgress: CopyOptions['onProgress'] = (_, { copied }) => {
      if (copied === 5) stop.abort();
    };
    const report = await run({ signal: stop.signal, onProgress });
    expect(report).toMatchObject({ interrupted: true, finished: false });
    expect(report.copied).toBeLessThan(35);
    expect(await run()).toMatchObject({ copied: 40 - report.copied, there: report.copied, finished: true });
  });
});

describe('copyFault', () => {
  const fault = () => copyFault(from, to, 30_000);

  it('takes an empty place, and a copy of the same store that was not used', async () => {
    await put('jobs/j1/data', 'x');
    await put('.canary/old', 'x', PLAIN, to);
    expect(await copyFault(from, to, -60_000)).toBeNull();
    await to.delete('.canary/old');
    expect(await fault()).toBeNull();
    await run();
    expect(await fault()).toBeNull();
    await markCopyServed(to);
    expect(await fault()).toMatch(/was served since it was copied/);
  });

  it('refuses a place with content, a copy of another store, the same store, and one that a receiver writes to', async () => {
    await put('jobs/j1/data', 'x');
    await put('jobs/own/data', 'x', PLAIN, to);
    expect(await fault()).toMatch(/has content of its own: name an empty/);
    await to.delete('jobs/own/data');
    expect(await copyFault(from, from, 0)).toMatch(/are the same store/);
    const other = await openFolder();
    await put('jobs/j1/data', 'x', PLAIN, other);
    await run({ from: other });
    expect(await fault()).toMatch(/is a copy of another store/);
    await put('.canary/r-1', 'x', PLAIN, to);
    expect(await fault()).toMatch(/a receiver writes to .*: stop it/);
    await other.close();
  });
});

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openStore } from '../../../src/store/open-store.js';
import { writeCopyMark } from '../../../src/store/probe/copy-mark.js';
import { type RecordingServer, recordingServer } from '../../support/http/recording-server.js';
import { SECRET } from '../../support/outbox/subscribed.js';
import { adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { startProcess } from '../../support/processes/receiver-process.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { openStandInPlace } from '../../support/store/stand-in-store.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

describe('a service that was copied', () => {
  /* A service moves: it is stopped, its folder is copied, and it is started on the copy. */

  let from: Awaited<ReturnType<typeof temporaryFolder>>;
  let to: Awaited<ReturnType<typeof temporaryFolder>>;
  let subscriber: RecordingServer;
  let isRefusing: (body: string) => boolean;
  let running: RunningService[];

  beforeEach(async () => {
    [from, to] = [await temporaryFolder(), await temporaryFolder()];
    isRefusing = () => false;
    subscriber = await recordingServer((_, { body }) => (isRefusing(body.toString()) ? 500 : 200));
    running = [];
  });
  afterEach(async () => {
    for (const service of running) await service.stop();
    await subscriber.close();
    await from.remove();
    await to.remove();
  });

  const settings = (folder: string) => ({
    store: { url: `file:${folder}`, canaryInterval: '1s' },
    sources: { intake: { allowUnauthenticated: true, maxBytes: '1MiB' } },
    subscribers: { crm: { url: subscriber.url, secrets: [SECRET] } },
  });

  async function start(folder: string): Promise<RunningService> {
    const service = await startService(settings(folder));
    running.push(service);
    return service;
  }

  async function stopAll(): Promise<void> {
    for (const service of running.splice(0)) await service.stop();
  }

  const copy = (...more: string[]) =>
    runCommand(['copy-store', `file:${from.path}`, `file:${to.path}`, ...more], {
      NODE_CONFIG: JSON.stringify({ store: { canaryInterval: '1s' } }),
    });

  const send = (service: RunningService, id: string, body: string, type = 'application/json') =>
    sendCallback(service, `id=${id}&status=success`, body, { 'content-type': type }, 'intake');

  /** Job ids of the events that arrived, each as often as it did; undefined for a test event. */
  const told = () =>
    subscriber.requests.map(
      ({ body }) => (JSON.parse(body.toString()) as { data: { jobId?: string } }).data.jobId,
    );

  /** Events that arrived and were not refused. */
  const arrived = () =>
    new Set(
      subscriber.requests
        .filter(({ body }) => !isRefusing(body.toString()))
        .map(({ headers }) => headers['webhook-id']),
    ).size;

  /** Whether the store says so: a stop that comes before repeats an event. */
  async function isSaved(service: RunningService): Promise<boolean> {
    const [crm] = (await adminApi(service).get('/subscribers')).body.subscribers;
    return crm.sent === arrived() && crm.retrying === 1 && crm.untried === 0;
  }

  const keysOf = async (service: RunningService, path: string, name: string) =>
    ((await adminApi(service).get(path)).body as Record<string, unknown>)[name];

  it('shows the same lines in the same order with the same cursors, sends what waits, once, and is not copied into again', async () => {
    const writers = [await start(from.path), await start(from.path)] as const;
    isRefusing = (body) => body.includes('"jobId":"waits"');
    for (const [index, id] of ['a', 'b', 'c', 'd', 'e', 'waits'].entries())
      expect(await send(writers[index % 2 === 0 ? 0 : 1], id, `{"id":"${id}"}`)).toMatchObject({
        status: 200,
      });
    expect(await send(writers[0], 'a', '{"id":"a","other":true}')).toMatchObject({
      json: { outcome: 'conflict' },
    });
    expect(await send(writers[1], 'q', '{broken')).toMatchObject({ status: 202 });
    expect(await send(writers[1], 'gone', '{"id":"gone"}')).toMatchObject({ status: 200 });
    await until(() => ['a', 'b', 'c', 'd', 'e', 'waits', 'gone'].every((id) => told().includes(id)));
    expect((await adminApi(writers[0]).delete('/jobs/gone').send({ reason: 'asked' })).status).toBe(200);
    await until(() => told().filter((id) => id === 'gone').length === 2);
    await until(() => isSaved(writers[0]));
    const pages = async (service: RunningService) => {
      const first = (await adminApi(service).get('/deliveries?limit=4')).body;
      const second = (await adminApi(service).get(`/deliveries?limit=4&cursor=${first.nextCursor}`)).body;
      return { first: first.deliveries, cursor: first.nextCursor, second: second.deliveries };
    };
    const before = await pages(writers[0]);
    const failing = await keysOf(writers[0], '/failures', 'failures');
    await stopAll();
    const sent = told();

    expect(await copy()).toMatchObject({ code: 0, stderr: '' });
    isRefusing = () => false;
    const moved = await start(to.path);
    const refused = (reason: string) => ({ code: 2, stderr: expect.stringContaining(reason) });
    expect(await copy()).toMatchObject(refused('a receiver writes to'));
    expect(await pages(moved)).toEqual(before);
    expect(await keysOf(moved, '/failures', 'failures')).toEqual(failing);
    expect(await keysOf(moved, '/quarantine', 'quarantine')).toHaveLength(1);
    expect((await adminApi(moved).get('/jobs/a')).body.artefacts).toHaveLength(2);
    expect(await send(moved, 'gone', '{"id":"gone"}')).toMatchObject({ json: { outcome: 'noted' } });
    expect(await send(moved, 'new', '{"id":"new"}')).toMatchObject({ json: { outcome: 'stored' } });
    await until(() => told().includes('new'));
    // What waits goes at once when an event has arrived that an operator sent.
    expect((await adminApi(moved).post('/subscribers/crm/test').send({})).status).toBe(200);
    await until(() => told().lastIndexOf('waits') >= sent.length);
    expect(new Set(told().slice(sent.length))).toEqual(new Set(['new', undefined, 'waits']));
    expect(await send(moved, 'b', '{"id":"b"}')).toMatchObject({ json: { outcome: 'duplicate' } });
    await stopAll();
    expect(await copy()).toMatchObject(refused('was served since it was copied'));
    expect(
      await runCommand(['verify', '--deep'], {
        NODE_CONFIG: JSON.stringify({ store: { url: `file:${to.path}` } }),
      }),
    ).toMatchObject({ code: 0 });
  });
});

describe('two buckets', () => {
  /* Two buckets of different servers and keys; and what rules do with the new ages. */

  const RULE =
    '<Rule><Status>Enabled</Status><Filter><Tag><Key>kind</Key><Value>data</Value></Tag></Filter><Expiration><Days>30</Days></Expiration></Rule>';

  type Place = Awaited<ReturnType<typeof openStandInPlace>>;

  let old: Place;
  let next: Place;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeEach(async () => {
    [old, next] = [await openStandInPlace(), await openStandInPlace({ accessKeyId: 'OTHERKEY' })];
    folder = await temporaryFolder();
  });
  afterEach(async () => {
    await old.dispose();
    await next.dispose();
    await folder.remove();
  });

  const settings = ({ options: { url, s3 = {} } }: Place) => {
    const { endpoint, region, forcePathStyle, accessKeyId } = s3;
    return { store: { url, s3: { endpoint, region, forcePathStyle, accessKeyId, tags: true } } };
  };

  describe('copy-store between two servers', () => {
    it('takes the settings of the source from another configuration, and says what rules will do', async () => {
      const store = await openStore(old.options);
      const metadata = { kind: 'data', source: 'intake' };
      await store.create('jobs/j1/data', Buffer.from('media'), { contentType: 'audio/wav', metadata });
      await store.close();
      const config = join(folder.path, 'old');
      await mkdir(config);
      const own = settings(old);
      await writeFile(
        join(config, 'local.json'),
        JSON.stringify({ store: { s3: { ...own.store.s3, secretAccessKey: `\${env:OLD_SECRET}` } } }),
      );
      next.standIn.state.lifecycle = RULE;
      const environment = {
        NODE_CONFIG: JSON.stringify(settings(next)),
        TR_S3_SECRET_ACCESS_KEY: 'secret-of-the-new-one',
        OLD_SECRET: 'secret-of-the-old-one',
      };
      const args = ['copy-store', old.options.url, 's3://other-bucket', '--from-config', config];
      const { code, stdout, stderr } = await runCommand(args, environment);
      expect({ code, stdout, stderr }).toEqual({
        stderr: '',
        code: 0,
        stdout: expect.stringMatching(
          /new age.* expire what was copied today: data on \d{4}-\d\d-\d\d \(30 days\)/,
        ),
      });
      const signers = (place: Place) =>
        new Set(
          place.standIn.requests.map(
            ({ headers }) => /Credential=(\w+)/.exec(`${headers.authorization}`)?.[1],
          ),
        );
      expect(signers(old)).toEqual(new Set(['AKIATEST']));
      expect(signers(next)).toEqual(new Set(['OTHERKEY']));
    });

    it('says that a bucket that does not exist has to be made', async () => {
      next.standIn.misbehave = () => ({ kind: 'answer', status: 404, code: 'NoSuchBucket' });
      const from = `file:${folder.path}/old`;
      const store = await openStore({ url: from, fsync: false });
      await store.create('jobs/j1/data', Buffer.from('media'), { contentType: 'audio/wav', metadata: {} });
      await store.close();
      const { code, stderr } = await runCommand(['copy-store', from, 's3://none/here'], {
        NODE_CONFIG: JSON.stringify(settings(next)),
        TR_S3_SECRET_ACCESS_KEY: 'secret',
      });
      expect(code).toBe(4);
      expect(stderr).toContain('the bucket does not exist (404 NoSuchBucket');
      expect(stderr).toMatch(
        /^A bucket to copy into has to be made before\. Correct this, then run the same command again: it continues\.$/m,
      );
    });
  });

  describe('a receiver on an unfinished copy', () => {
    it('answers 503, says why, does not keep copy-store from finishing it, and goes on then', async () => {
      const from = `file:${folder.path}/old`;
      const to = `file:${folder.path}/copy`;
      const [source, copy] = [
        await openStore({ url: from, fsync: false }),
        await openStore({ url: to, fsync: false }),
      ];
      await source.create('jobs/j1/data', Buffer.from('media'), { contentType: 'audio/wav', metadata: {} });
      const begun = { location: from, id: await source.identity() };
      await writeCopyMark(copy, { from: begun, startedAt: new Date().toISOString(), finishedAt: null });
      const adminToken = 'token-of-an-unfinished-copy';
      const receiver = await startProcess({
        store: { url: to, canaryInterval: '1s' },
        admin: { tokens: { tester: adminToken } },
      });
      try {
        const send = () =>
          fetch(`${receiver.publicUrl}/callbacks/default?id=j1&status=success`, { method: 'POST' });
        await until(async () => (await fetch(`${receiver.publicUrl}/readyz`)).status === 503);
        expect((await send()).status).toBe(503);
        const api = adminApi({ ...receiver, adminToken });
        expect((await api.delete('/jobs/j1')).body).toMatchObject({ status: 503, code: 'store-unavailable' });
        await until(() =>
          receiver.log.some(({ msg }) => String(msg).includes(`is an unfinished copy of ${from}`)),
        );
        const { code, stderr } = await runCommand(['copy-store', from, to], {});
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        await until(async () => (await send()).status === 200);
        const verified = await runCommand(['verify'], {
          NODE_CONFIG: JSON.stringify({ store: { url: to } }),
        });
        expect(verified).toMatchObject({ code: 0, stderr: '' });
      } finally {
        await receiver.destroy();
        await source.close();
        await copy.close();
      }
    });

    it('is written by no command either', async () => {
      const url = `file:${folder.path}/copy`;
      const store = await openStore({ url, fsync: false });
      const startedAt = new Date().toISOString();
      await writeCopyMark(store, { from: { location: 'file:/old', id: null }, startedAt, finishedAt: null });
      const merge = await runCommand(['merge'], { NODE_CONFIG: JSON.stringify({ store: { url } }) });
      expect(merge).toMatchObject({ code: 4, stderr: expect.stringContaining('is an unfinished copy') });
      await store.close();
    });
  });
});

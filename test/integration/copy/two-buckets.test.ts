import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openStore } from '../../../src/store/open-store.js';
import { writeCopyMark } from '../../../src/store/probe/copy-mark.js';
import { startProcess } from '../../support/processes/receiver-process.js';
import { runCommand } from '../../support/processes/run-command.js';
import { openStandInPlace } from '../../support/store/stand-in-store.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

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
        /new age.* end what was copied today: data on \d{4}-\d\d-\d\d \(30 days\)/,
      ),
    });
    const signers = (place: Place) =>
      new Set(
        place.standIn.requests.map(({ headers }) => /Credential=(\w+)/.exec(`${headers.authorization}`)?.[1]),
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
    const [from, to] = [`file:${folder.path}/old`, `file:${folder.path}/copy`];
    const [source, copy] = [
      await openStore({ url: from, fsync: false }),
      await openStore({ url: to, fsync: false }),
    ];
    await source.create('jobs/j1/data', Buffer.from('media'), { contentType: 'audio/wav', metadata: {} });
    const begun = { location: from, id: await source.identity() };
    await writeCopyMark(copy, { from: begun, startedAt: new Date().toISOString(), finishedAt: null });
    const receiver = await startProcess({ store: { url: to, canaryInterval: '1s' } });
    try {
      const send = () =>
        fetch(`${receiver.publicUrl}/callbacks/default?id=j1&status=success`, { method: 'POST' });
      await until(async () => (await fetch(`${receiver.publicUrl}/readyz`)).status === 503);
      expect((await send()).status).toBe(503);
      await until(() =>
        receiver.log.some(({ msg }) => String(msg).includes(`is an unfinished copy of ${from}`)),
      );
      const { code, stderr } = await runCommand(['copy-store', from, to], {});
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      await until(async () => (await send()).status === 200);
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

import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type ReceiverProcess, startReady } from '../support/processes/receiver-process.js';
import { type S3StandIn, startS3StandIn } from '../support/store/s3-stand-in.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const TOKEN = 'a-token-of-good-length';
const TRANSCRIPT = JSON.stringify({ format: '2.9', metadata: {}, results: [] });

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let server: S3StandIn;
let receiver: ReceiverProcess;

beforeEach(async () => {
  folder = await temporaryFolder();
  server = await startS3StandIn();
});

afterEach(async () => {
  await receiver.destroy();
  await server.close();
  await folder.remove();
});

/** A copy of the built program. */
function installed(): string {
  const installation = path.join(folder.path, 'program');
  mkdirSync(installation);
  for (const part of ['dist', 'config', 'package.json'])
    cpSync(part, path.join(installation, part), { recursive: true });
  symlinkSync(path.resolve('node_modules'), path.join(installation, 'node_modules'));
  return installation;
}

function s3Settings() {
  return {
    url: 's3://bucket/prefix',
    s3: {
      endpoint: server.endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      accessKeyId: 'key',
      secretAccessKey: 'secret-of-the-test',
    },
  };
}

async function post(url: string, body: string | FormData, type?: string): Promise<number> {
  const headers = { authorization: `Bearer ${TOKEN}`, ...(type ? { 'content-type': type } : {}) };
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

it.each(['file', 's3'])('a replica that is ready loads no more of its program: %s store', async (kind) => {
  const program = installed();
  receiver = await startReady(
    {
      receiver: { host: '127.0.0.1', port: 0, drainDelay: 0 },
      admin: { port: 0, tokens: { tester: TOKEN } },
      store: kind === 's3' ? s3Settings() : { url: `file:${path.join(folder.path, 'data')}` },
    },
    {},
    { main: path.join(program, 'dist/main.js') },
  );
  // A busy machine opens the index later than readiness waits for it.
  await until(() => receiver.log.some(({ event }) => String(event).startsWith('index')));
  rmSync(program, { recursive: true });
  const { publicUrl, adminUrl } = receiver;
  const callback = (id: string) => `${publicUrl}/callbacks/default?id=${id}&status=success`;
  const form = new FormData();
  form.set('kind', 'data');
  form.set('file', new Blob(['sound']), 'a.wav');

  expect(await post(callback('j1'), TRANSCRIPT, 'application/json')).toBe(200);
  expect(await post(callback('j1'), TRANSCRIPT, 'application/json')).toBe(200);
  expect(await post(callback('j1'), `${TRANSCRIPT} `, 'application/json')).toBe(200);
  expect(await post(callback('j2'), form)).toBe(200);
  expect(await post(callback('j3'), '{"broken', 'application/json')).toBe(202);
  expect(await post(`${adminUrl}/admin/api/jobs/j4/artefacts`, form)).toBe(200);
  const replay = JSON.stringify({ selector: { kind: 'release' }, dryRun: true });
  expect(await post(`${adminUrl}/admin/api/replays`, replay, 'application/json')).toBe(200);
  receiver.signal('SIGTERM');
  expect(await receiver.ended).toBe(0);
});

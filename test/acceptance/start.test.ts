import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import supertest from 'supertest';
import { type ReceiverProcess, startProcess } from '../support/processes/receiver-process.js';
import { startS3StandIn } from '../support/store/s3-stand-in.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let receiver: ReceiverProcess | undefined;

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(async () => {
  await receiver?.destroy();
  await folder.remove();
});

describe('a start without an admin token', () => {
  const start = async (
    environment: Record<string, string>,
    store: object = { url: `file:${folder.path}/data` },
  ) => {
    receiver = await startProcess(
      {
        receiver: { host: '127.0.0.1', port: 0, drainDelay: 0 },
        admin: { port: 0 },
        store,
      },
      environment,
    );
    return receiver;
  };
  const tokenIn = (text: string) => /#token=(\S+)/.exec(text)?.[1] ?? '';
  const statusWith = async ({ adminUrl }: ReceiverProcess, token: string) =>
    (await supertest(adminUrl).get('/admin/api/health').auth(token, { type: 'bearer' })).status;

  it('prints a link that signs in, in development, also into a pipe', async () => {
    const started = await start({ NODE_ENV: 'development' });
    await supertest(started.adminUrl).get('/admin/api/health').expect(401);
    await until(() => tokenIn(started.output.join('\n')) !== '');
    const token = tokenIn(started.output.join('\n'));
    expect(await statusWith(started, token)).toBe(200);
    expect(JSON.stringify(started.log)).not.toContain(token);
  });

  it('names a file only its user can read, in production without a terminal', async () => {
    const started = await start({ NODE_ENV: 'production', TMPDIR: folder.path });
    const noted = () => started.log.find(({ event }) => event === 'no-admin-token')?.file;
    await until(() => noted() !== undefined);
    const file = String(noted());
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(path.dirname(file))).mode & 0o777).toBe(0o700);
    const token = tokenIn(await readFile(file, 'utf8'));
    expect(await statusWith(started, token)).toBe(200);
    expect(started.output.join('\n')).not.toContain(token);
    started.signal('SIGTERM');
    await started.ended;
    await expect(stat(path.dirname(file))).rejects.toThrow(/ENOENT/);
    expect(started.output.join('\n')).not.toContain(token);
  });

  it('says what to set where no file can be written; on S3 it prints log lines only, no warnings of libraries', async () => {
    const standIn = await startS3StandIn();
    const s3 = { endpoint: standIn.endpoint, region: 'us-east-1', forcePathStyle: true };
    const keys = { accessKeyId: 'test', secretAccessKey: 'test-secret' };
    const started = await start(
      { NODE_ENV: 'production', NODE_NO_WARNINGS: '', TMPDIR: path.join(folder.path, 'not-there') },
      { url: 's3://bucket', s3: { ...s3, ...keys } },
    );
    await until(() => started.log.some(({ msg }) => /\(ENOENT\): set admin\.tokens/.test(String(msg))));
    started.signal('SIGTERM');
    expect(await started.ended).toBe(0);
    await standIn.close();
    expect(started.output.join('\n')).not.toContain('#token=');
    expect(started.output.filter((line) => !line.startsWith('{'))).toEqual([]);
  });
});

describe('a start', () => {
  const settings = (port: number) => ({
    receiver: { host: '127.0.0.1', port, drainDelay: 0 },
    admin: { port: 0 },
    store: { url: `file:${folder.path}` },
  });

  it('that finds its port in use names the setting to change, in one line, and fails', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const failed = await startProcess(settings(port)).catch((error: Error) => error.message);
    other.close();
    const [, ...said] = String(failed).trim().split('\n');
    expect(failed).toMatch(/^the receiver ended with 1:/);
    expect(said).toHaveLength(1);
    expect(JSON.parse(said[0] ?? '')).toMatchObject({
      msg: `port ${port} on 127.0.0.1 is in use by another process: stop that one or change receiver.port (TR_PORT)`,
    });
  });

  it('that a signal ends before it listens exits 0', async () => {
    const hold = new URL('../support/processes/signal-at-load.mjs', import.meta.url).href;
    const environment = { NODE_OPTIONS: `--import=${hold}`, SIGNAL_AT_LOAD: 'SIGTERM' };
    await expect(startProcess(settings(0), environment)).rejects.toThrow(/ended with 0:\n$/);
  });
});

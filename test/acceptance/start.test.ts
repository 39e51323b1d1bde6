import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import supertest from 'supertest';
import { configFolder } from '../support/processes/config-folder.js';
import { type ReceiverProcess, startProcess, startReady } from '../support/processes/receiver-process.js';
import { runCli } from '../support/processes/run-cli.js';
import { startS3StandIn } from '../support/store/s3-stand-in.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let receiver: ReceiverProcess;

describe('start', () => {
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

    it('gives back the young generation that loading the program took', async () => {
      receiver = await startProcess(settings(0), {}, { nodeFlags: ['--trace-gc'] });
      receiver.signal('SIGTERM');
      await receiver.ended;
      expect(receiver.output.join('\n')).toMatch(/Mark-Compact \(reduce\)[^\n]* testing;/);
    });

    it('that a signal ends before it listens exits 0', async () => {
      const hold = new URL('../support/processes/signal-at-load.mjs', import.meta.url).href;
      const environment = { NODE_OPTIONS: `--import=${hold}`, SIGNAL_AT_LOAD: 'SIGTERM' };
      await expect(startProcess(settings(0), environment)).rejects.toThrow(/ended with 0:\n$/);
    });
  });
});

describe('a start without a host', () => {
  /* A receiver without a host setting, on a machine with IPv4 and IPv6. */

  const TOKEN = 'correct-horse-battery-staple';

  beforeAll(async () => {
    folder = await temporaryFolder();
    receiver = await startReady({
      store: { url: `file:${folder.path}` },
      sources: { default: { allow: ['127.0.0.1', '::1'], allowUnauthenticated: true } },
      admin: { host: '', tokens: { tester: TOKEN } },
    });
  });

  afterAll(async () => {
    await receiver.destroy();
    await folder.remove();
  });

  const on = (host: string, url: string) => `http://${host}:${new URL(url).port}`;

  describe.each(['127.0.0.1', '[::1]'])('a receiver that listens on every address, asked at %s', (host) => {
    const address = host.replace(/[[\]]/g, '');

    it('takes callbacks', async () => {
      const id = `at-${address.replaceAll(/\W/g, '-')}`;
      await supertest(on(host, receiver.publicUrl))
        .post(`/callbacks/default?id=${id}&status=success`)
        .expect(200);
      await until(() => receiver.log.some(({ jobId }) => jobId === id));
      const line = receiver.log.find(({ jobId }) => jobId === id);
      expect(line).toMatchObject({ event: 'delivery', clientIp: address });
    });

    it('serves operators', async () => {
      const { status, body } = await supertest(on(host, receiver.adminUrl))
        .get('/admin/api/refusals')
        .auth(TOKEN, { type: 'bearer' });
      expect({ status, refusals: body.refusals }).toEqual({ status: 200, refusals: expect.any(Array) });
    });

    it('records a refused caller by its plain address', async () => {
      await supertest(on(host, receiver.publicUrl)).post('/callbacks/nobody?id=j&status=success').expect(404);
      const { body } = await supertest(on(host, receiver.adminUrl))
        .get('/admin/api/refusals')
        .auth(TOKEN, { type: 'bearer' });
      expect(body.refusals[0]).toMatchObject({
        reason: 'source-unknown',
        clientIp: address,
        peer: address,
      });
    });
  });
});

describe('a start by README.md', () => {
  /* A receiver in production with the configuration that README.md gives, followed to the letter. */

  const SECRET = 'a-secret-for-these-tests';
  const folder = configFolder({
    'callback-token': `${SECRET}\n`,
    'admin-token': 'a-token-for-these-tests\n',
    'api-key': 'a-key-for-these-tests\n',
  });
  const data = path.join(folder.path, 'data');

  function readmeSettings(): string {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const [, settings] =
      /```yaml\n(# \/etc\/transcript-receiver\/default\.yaml[\s\S]*?)```/.exec(readme) ?? [];
    if (settings === undefined) throw new Error('README.md shows no configuration');
    return settings
      .replaceAll('/run/secrets/', `${folder.path}/`)
      .replaceAll('s3://my-bucket/transcripts', `file:${data}`);
  }

  beforeAll(async () => {
    const operators = configFolder({ 'default.yaml': readmeSettings() });
    // Only what the machine of a test needs: free ports, none beyond loopback, and no requests to example.com.
    const free = {
      receiver: { host: '127.0.0.1', port: 0 },
      admin: { host: '127.0.0.1', port: 0 },
      recovery: { interval: 'off' },
      sources: undefined,
    };
    receiver = await startReady(free, { NODE_CONFIG_DIR: operators.path }).finally(operators.remove);
  });

  afterAll(async () => {
    await receiver?.destroy();
    folder.remove();
  });

  const FORGED = '{"format":"2.9","job":{"id":"job1"},"metadata":{},"results":[]}';
  const WAYS_IN: readonly Record<string, string>[] = [
    {},
    { 'x-callback-token': 'guessed-guessed-guessed' },
    { 'x-forwarded-for': '127.0.0.1' },
    { 'x-forwarded-for': '40.74.41.91' },
    { forwarded: 'for=40.74.41.91' },
    { 'x-forwarded-for': '10.0.0.1, 127.0.0.1', 'x-callback-token': 'guessed-guessed-guessed' },
  ];

  async function send(source: string, headers: Record<string, string>): Promise<number> {
    const { status } = await supertest(receiver.publicUrl)
      .post(`/callbacks/${source}?id=job1&status=success`)
      .set({ 'content-type': 'application/json', ...headers })
      .send(FORGED);
    return status;
  }

  describe('the configuration of README.md, in production', () => {
    it.each(WAYS_IN)('has no source default for a request from loopback with %j', async (headers) => {
      expect(await send('default', headers)).toBe(404);
    });

    it.each(WAYS_IN)('refuses a request from loopback to its own source with %j', async (headers) => {
      expect(await send('intake', headers)).toBe(403);
    });

    it('leaves nothing in the archive', () => {
      expect(existsSync(path.join(data, 'jobs'))).toBe(false);
    });

    it('asks for a token everywhere below the admin API', async () => {
      for (const place of ['health', 'deliveries', 'quarantine', 'refusals', 'nothing/here']) {
        await supertest(receiver.adminUrl).get(`/admin/api/${place}`).expect(401);
      }
    });
  });

  describe('a production start without configuration', () => {
    it('is refused and says what to write', async () => {
      const result = await runCli(['serve'], { NODE_ENV: 'production' }, folder.path);
      expect(result).toMatchObject({ code: 2, stdout: '' });
      expect(result.stderr).toMatch(/sources: .*such as intake: \{.*credentials: .*X-Callback-Token/);
    });
  });
});

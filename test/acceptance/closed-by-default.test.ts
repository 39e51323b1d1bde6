import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import supertest from 'supertest';
import { configFolder } from '../support/processes/config-folder.js';
import { type ReceiverProcess, startProcess } from '../support/processes/receiver-process.js';
import { runCli } from '../support/processes/run-cli.js';
import { until } from '../support/until.js';

/* A receiver in production with the configuration that README.md gives, followed to the letter. */

const SECRET = 'a-secret-for-these-tests';
const folder = configFolder({
  'callback-token': `${SECRET}\n`,
  'admin-token': 'a-token-for-these-tests\n',
  'api-key': 'a-key-for-these-tests\n',
});
const data = path.join(folder.path, 'data');
let receiver: ReceiverProcess;

function readmeSettings(): string {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const [, settings] = /```yaml\n(# \/etc\/transcript-receiver\/default\.yaml[\s\S]*?)```/.exec(readme) ?? [];
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
  receiver = await startProcess(free, { NODE_CONFIG_DIR: operators.path }).finally(operators.remove);
  await until(async () => (await supertest(receiver.publicUrl).get('/readyz')).ok);
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

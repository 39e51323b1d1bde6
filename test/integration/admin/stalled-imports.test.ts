import { afterEach, describe, expect, it } from '@jest/globals';
import { type RawClient, rawClient } from '../../support/http/raw-http.js';
import { type RunningService, type Settings, startService } from '../../support/processes/running-service.js';

let service: RunningService;
let clients: RawClient[] = [];

afterEach(async () => {
  for (const client of clients) client.close();
  clients = [];
  await service.stop();
});

async function start(settings: Settings): Promise<void> {
  service = await startService(settings);
}

/** Begins an import and sends a little of its file. */
async function begin(job: string, ...more: string[]): Promise<RawClient> {
  const client = await rawClient(service.adminUrl);
  clients.push(client);
  const form = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nsome of it';
  const head = [
    `POST /admin/api/jobs/${job}/artefacts HTTP/1.1`,
    `Host: ${new URL(service.adminUrl).host}`,
    `Authorization: Bearer ${service.adminToken}`,
    'Content-Type: multipart/form-data; boundary=b',
    'Content-Length: 100000',
    ...more,
  ];
  await client.send(`${head.join('\r\n')}\r\n\r\n${form}`);
  return client;
}

async function refusalOf(client: RawClient): Promise<[number, string]> {
  const { status, body } = await client.answer();
  return [status, (JSON.parse(body) as { code: string }).code];
}

describe('an import that stalls', () => {
  it('times out after the idle time-out of a callback', async () => {
    await start({ limits: { idleTimeout: '300ms' } });
    expect(await refusalOf(await begin('stalled1'))).toEqual([408, 'body-too-slow']);
  });

  it('counts towards the limit of sixteen; a further import is rejected with 503', async () => {
    await start({});
    const stalled = await Promise.all(Array.from({ length: 17 }, (_, n) => begin(`stalled${n}`)));
    const refused = await Promise.race(stalled.map(refusalOf));
    expect(refused).toEqual([503, 'overloaded']);
    stalled[0]?.close();
    const answer = await fetch(`${service.publicUrl}/callbacks/default?id=beside&status=success`, {
      method: 'POST',
      body: Buffer.alloc(100_000),
    });
    expect(answer.status).toBe(200);
  });

  it('does not hold up the shutdown', async () => {
    await start({ receiver: { drainDeadline: '10m' } });
    const stalled = await begin('stalled1', 'Expect: 100-continue');
    expect((await stalled.answer()).status).toBe(100);
    const refused = refusalOf(stalled);
    await service.stop();
    expect(await refused).toEqual([503, 'draining']);
  });
});

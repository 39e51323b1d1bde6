import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import supertest from 'supertest';
import { type ReceiverProcess, startProcess } from '../support/processes/receiver-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

/* A receiver without a host setting, on a machine with IPv4 and IPv6. */

const TOKEN = 'correct-horse-battery-staple';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let receiver: ReceiverProcess;

beforeAll(async () => {
  folder = await temporaryFolder();
  receiver = await startProcess({
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

import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, jest } from '@jest/globals';

it('the service is asked on at its rate after the clock was set back by an hour', async () => {
  const real = Date.now;
  let behind = 0;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => real() - behind);
  const { createSpeechClients } = await import('../../../src/speech/speech.js');
  const service = http.createServer({ keepAliveTimeout: 0 }, (_, response) => response.writeHead(404).end());
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const batchUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const clients = createSpeechClients({ apiKey: 'a-secret-api-key', regions: { eu1: { batchUrl } } });
  const ask = () => clients.jobs('eu1').record('job').catch(String);
  const first = await ask();
  behind = 3_600_000;
  expect(await ask()).toBe(first);
  clock.mockRestore();
  await clients.close();
  service.close();
});

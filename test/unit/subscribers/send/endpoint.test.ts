import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { NO_PROXIES } from '../../../../src/lib/outbound/proxy-settings.js';
import { createEndpoint } from '../../../../src/subscribers/send/endpoint.js';
import { testEvent } from '../../../../src/subscribers/test-event.js';
import { subscriberAt } from '../../../support/outbox/subscribed.js';

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** What a subscriber's answer means. */
async function resultOf(answer: (response: ServerResponse) => void) {
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    request.resume().on('end', () => answer(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`;
  const endpoint = createEndpoint(subscriberAt(url), NO_PROXIES);
  ends.push(endpoint.close, () => new Promise((resolve) => server.close(resolve)));
  return endpoint.send(testEvent('01', '/test'), new AbortController().signal);
}

it.each([
  [200, true],
  [204, true],
  [299, true],
  [300, false],
  [404, false],
  [503, false],
])('%i is delivered: %s', async (status, delivered) => {
  expect(await resultOf((response) => response.writeHead(status).end())).toMatchObject({
    status,
    delivered,
    error: null,
    retryAfterMs: null,
  });
});

it('says for how long the subscriber asks not to be sent anything', async () => {
  const busy = await resultOf((response) => response.writeHead(429, { 'retry-after': '7' }).end('busy'));
  expect(busy).toMatchObject({ delivered: false, status: 429, answer: 'busy', retryAfterMs: 7000 });
});

it.each([
  [200, true],
  [500, false],
])('goes by the status %i of an answer that breaks off', async (status, delivered) => {
  const result = await resultOf((response) => {
    response.writeHead(status, { 'content-length': '100' });
    response.write('some', () => response.destroy());
  });
  expect(result).toMatchObject({ delivered, status, error: null });
});

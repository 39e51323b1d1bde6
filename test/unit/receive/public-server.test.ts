import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { drainServer } from '../../../src/lib/http/drain-server.js';
import { openPublicPort, type PublicPort } from '../../support/http/public-port.js';
import { until } from '../../support/until.js';

let port: PublicPort;

afterEach(() => port.close());

const callback = (...lines: string[]) =>
  ['POST /callbacks/intake HTTP/1.1', 'Host: a', 'Content-Length: 0', ...lines, '', ''].join('\r\n');

/** Opens a port whose callbacks wait for the returned function. */
async function openHoldingPort(): Promise<() => void> {
  const { promise: held, resolve: acknowledge } = Promise.withResolvers<void>();
  port = await openPublicPort({ receive: () => held });
  return acknowledge;
}

describe('the public port', () => {
  it('responds to CONNECT after an earlier request on the connection', async () => {
    const acknowledge = await openHoldingPort();
    const client = await port.connect();
    const asked = once(port.server, 'connect');
    await client.send(`${callback()}CONNECT intake:443 HTTP/1.1\r\nHost: a\r\n\r\n`);
    await asked;
    acknowledge();
    expect((await client.answer()).status).toBe(200);
    expect((await client.answer()).status).toBe(400);
  });

  it('announces how long it keeps idle connections', async () => {
    port = await openPublicPort({ keepAliveTimeout: 77_000 });
    const client = await port.connect();
    await client.send(callback());
    expect((await client.answer()).headers['keep-alive']).toBe('timeout=77');
  });

  it.each([
    [true, 200, 'ready'],
    [false, 503, 'not ready'],
  ])('says whether it is ready, and nothing else: %s', async (ready, status, text) => {
    port = await openPublicPort({ readiness: () => ({ ready, reason: 'http://store.internal is down' }) });
    const client = await port.connect();
    await client.send('GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await client.answer()).toMatchObject({ status, body: JSON.stringify({ status: text }) });
  });
});

describe('the health paths', () => {
  it.each(['healthz', 'readyz'])('take GET and HEAD alone: %s', async (path) => {
    port = await openPublicPort();
    const client = await port.connect();
    await client.send(`POST /${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`);
    expect(await client.answer()).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD' },
      body: expect.stringContaining('method-not-allowed'),
    });
    await client.send(`POST /${path}x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`);
    expect((await client.answer()).status).toBe(404);
  });
});

describe('a server that drains', () => {
  const never = new Promise<never>(() => {});

  it('takes no new connections, ends idle ones, and lets requests in flight finish', async () => {
    const acknowledge = await openHoldingPort();
    const idle = await port.connect();
    const inFlight = await port.connect();
    await idle.send('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    await idle.answer();
    const begun = new Promise((resolve) => port.server.once('request', resolve));
    await inFlight.send(callback());
    await begun;
    let isDrained = false;
    const draining = drainServer(port.server, never).then(() => {
      isDrained = true;
    });
    await until(() => idle.socket.destroyed);
    await expect(port.connect()).rejects.toThrow('ECONNREFUSED');
    expect({ isDrained, isOpen: !inFlight.socket.destroyed }).toEqual({ isDrained: false, isOpen: true });
    acknowledge();
    expect((await inFlight.answer()).status).toBe(200);
    await draining;
    await until(() => inFlight.socket.destroyed);
  });

  it('ends what is still in flight at its deadline', async () => {
    port = await openPublicPort({ receive: () => never });
    const client = await port.connect();
    const begun = new Promise((resolve) => port.server.once('request', resolve));
    await client.send(callback());
    await begun;
    const answering = client.answer();
    await Promise.all([
      expect(answering).rejects.toThrow('the connection ended'),
      drainServer(port.server, Promise.resolve()),
    ]);
  });

  it('has nothing to do when it never listened', async () => {
    port = await openPublicPort();
    await port.close();
    await drainServer(port.server, never);
  });
});

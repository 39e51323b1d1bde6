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
  let acknowledge = (): void => {};
  const held = new Promise<void>((resolve) => {
    acknowledge = resolve;
  });
  port = await openPublicPort({ receive: () => held });
  return acknowledge;
}

describe('the public port', () => {
  it.each([
    ['POST /callbacks/intake', ['Content-Length: 2'], '{}'],
    ['POST /callbacks/intake', ['Content-Length: 2', 'Expect: 100-continue'], ''],
    ['POST /callbacks/intake', ['Content-Length: 2', 'Expect: a-miracle'], '{}'],
    ['GET /healthz', [], ''],
  ])('rejects a request without a Host: %s %s', async (line, lines, body) => {
    let callbacks = 0;
    port = await openPublicPort({
      receive: async () => {
        callbacks += 1;
      },
    });
    const client = await port.connect();
    await client.send(`${[`${line} HTTP/1.1`, ...lines, '', ''].join('\r\n')}${body}`);
    const answer = await client.answer();
    expect(answer).toMatchObject({
      status: 400,
      headers: { 'content-type': 'application/problem+json', connection: 'close' },
    });
    expect(JSON.parse(answer.body)).toMatchObject({
      code: 'request-malformed',
      detail: 'An HTTP/1.1 request has to have a Host header.',
    });
    await until(() => client.socket.destroyed);
    expect(callbacks).toBe(0);
  });

  it.each([
    ['two Hosts', 'POST /callbacks/intake', ['Host: b'], 'A request has to have one Host header only.'],
    [
      'the same Host twice',
      'POST /callbacks/intake',
      ['hOST: a'],
      'A request has to have one Host header only.',
    ],
    ['a fragment', 'POST /callbacks/intake?id=1#x', [], 'The target of a request must not contain a #.'],
    [
      'a fragment, waiting for 100',
      'POST /#',
      ['Expect: 100-continue'],
      'The target of a request must not contain a #.',
    ],
    ['CONNECT', 'CONNECT intake:443', [], 'CONNECT is for proxies; this is not one.'],
  ])('rejects %s', async (_, line, lines, detail) => {
    port = await openPublicPort();
    const client = await port.connect();
    await client.send([`${line} HTTP/1.1`, 'Host: a', ...lines, '', ''].join('\r\n'));
    const answer = await client.answer();
    expect(answer).toMatchObject({ status: 400, headers: { connection: 'close' } });
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'request-malformed', detail });
    await until(() => client.socket.destroyed);
  });

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

  it('accepts HTTP/1.0 without a Host', async () => {
    port = await openPublicPort();
    const client = await port.connect();
    await client.send('POST /callbacks/intake HTTP/1.0\r\nContent-Length: 0\r\n\r\n');
    expect((await client.answer()).status).toBe(200);
  });

  it('ignores an upgrade and an unknown expectation; after an upgrade the connection ends', async () => {
    port = await openPublicPort();
    const client = await port.connect();
    await client.send(callback('Expect: a-miracle'));
    expect(await client.answer()).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } });
    await client.send(callback('Connection: upgrade', 'Upgrade: websocket'));
    expect(await client.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await until(() => client.socket.destroyed);
  });

  it.each([
    ['told', true],
    ['not told', false],
  ])('rejects the PROXY protocol of a balancer, its operator %s', async (_, isTold) => {
    const peers: unknown[] = [];
    port = await openPublicPort(
      isTold ? { onMalformed: ({ reason, peer }) => peers.push([reason, peer]) } : {},
    );
    const client = await port.connect();
    await client.send('PROXY TCP4 203.0.113.7 10.0.0.1 51234 8080\r\n');
    expect((await client.answer()).status).toBe(400);
    expect(peers).toEqual(isTold ? [['proxy-protocol', '127.0.0.1']] : []);
  });

  it('announces how long it keeps idle connections', async () => {
    port = await openPublicPort({ keepAliveTimeout: 77_000 });
    const client = await port.connect();
    await client.send(callback());
    expect((await client.answer()).headers['keep-alive']).toBe('timeout=77');
  });

  it('ends a connection whose headers take too long, and one whose headers are too large', async () => {
    port = await openPublicPort({ headersTimeout: 50 });
    const slow = await port.connect();
    await slow.send('POST / HTTP/1.1\r\nX-');
    expect((await slow.answer()).status).toBe(408);
    await port.close();
    port = await openPublicPort({ maxHeaderBytes: 1000 });
    const large = await port.connect();
    await large.send(callback(`X: ${'x'.repeat(1000)}`));
    expect((await large.answer()).status).toBe(431);
  });

  it('answers a sender that closed its side after the request', async () => {
    const acknowledge = await openHoldingPort();
    const client = await port.connect();
    const ended = new Promise((resolve) =>
      port.server.once('request', ({ socket }) => socket.once('end', resolve)),
    );
    await client.send(callback());
    client.socket.end();
    await ended;
    acknowledge();
    expect((await client.answer()).status).toBe(200);
    await until(() => client.socket.destroyed);
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

describe('a server that drains', () => {
  const never = new Promise<never>(() => {});

  it('takes no new connections, ends idle ones, and lets requests in flight finish', async () => {
    const acknowledge = await openHoldingPort();
    const [idle, inFlight] = [await port.connect(), await port.connect()];
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

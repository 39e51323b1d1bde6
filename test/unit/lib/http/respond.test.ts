import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Problem } from '../../../../src/domain/problem.js';
import { type DrainLimits, retryAfterOf } from '../../../../src/lib/http/respond.js';
import {
  openPublicPort,
  type PublicPort,
  type PublicPortOptions,
} from '../../../support/http/public-port.js';
import type { RawClient } from '../../../support/http/raw-http.js';
import { until } from '../../../support/until.js';

let port: PublicPort;

afterEach(() => port.close());

/** A port that acknowledges `intake` and refuses everybody else, and a client of it. */
async function connected(drain: DrainLimits, options: PublicPortOptions = {}) {
  const { receive = async () => {} } = options;
  port = await openPublicPort({
    drain,
    ...options,
    async receive(request) {
      if (request.sourceName !== 'intake') throw new Problem('credential-invalid', 'no');
      return receive(request);
    },
  });
  const accepted = new Promise<Socket>((resolve) => port.server.once('connection', resolve));
  const client = await port.connect();
  return { client, socket: await accepted };
}

const head = (source: string, ...lines: string[]) =>
  [`POST /callbacks/${source} HTTP/1.1`, 'Host: a', ...lines, '', ''].join('\r\n');

async function deliverOn(client: RawClient): Promise<number> {
  await client.send(head('intake', 'Content-Length: 0'));
  return (await client.answer()).status;
}

/** No test waits for it. */
const LONG = 600_000;

describe('a refused sender whose body is small', () => {
  it.each([1, 999, 1000])('keeps its connection when it sends the rest: %d bytes', async (length) => {
    const { client } = await connected({ bytes: 1000, ms: LONG });
    await client.send(head('guarded', `Content-Length: ${length}`));
    const answer = await client.answer();
    expect(answer).toMatchObject({ status: 401, headers: { connection: 'keep-alive' } });
    await client.send('x'.repeat(length));
    expect(await deliverOn(client)).toBe(200);
  });

  it('is disconnected when the rest does not come', async () => {
    const { client } = await connected({ bytes: 1000, ms: 60 });
    await client.send(head('guarded', 'Content-Length: 1000'));
    expect((await client.answer()).headers.connection).toBe('keep-alive');
    await until(() => client.socket.destroyed);
  });

  it('can still send the rest when it asked to close', async () => {
    const { client, socket } = await connected({ bytes: 1000, ms: LONG });
    await client.send(head('guarded', 'Content-Length: 1000', 'Connection: close'));
    expect(await client.answer()).toMatchObject({ status: 401, headers: { connection: 'close' } });
    const before = socket.bytesRead;
    await client.send('x'.repeat(500));
    await until(() => socket.bytesRead === before + 500 || socket.destroyed);
    expect(socket.destroyed).toBe(false);
    await client.send('x'.repeat(500));
    await until(() => client.socket.destroyed);
  });

  it('is not disconnected later when it has sent the rest', async () => {
    const { client } = await connected({ bytes: 1000, ms: 40 });
    await client.send(`${head('guarded', 'Content-Length: 1000')}${'x'.repeat(1000)}`);
    expect((await client.answer()).status).toBe(401);
    expect(await deliverOn(client)).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(await deliverOn(client)).toBe(200);
  });
});

describe('a refused sender whose body is large', () => {
  it.each([
    ['announced', 'Content-Length: 1001'],
    ['without an announced end', 'Transfer-Encoding: chunked'],
  ])('can read the response while it still sends, then its connection ends: %s', async (_, framing) => {
    const { client } = await connected({ bytes: 1000, ms: 60 });
    await client.send(head('guarded', framing));
    const answer = await client.answer();
    expect(answer).toMatchObject({ status: 401, headers: { connection: 'close' } });
    expect(JSON.parse(answer.body)).toEqual({
      type: 'urn:transcript-receiver:problem:credential-invalid',
      title: 'The credential is missing or wrong',
      status: 401,
      code: 'credential-invalid',
      detail: 'no',
    });
    expect(answer.headers['content-length']).toBe(`${Buffer.byteLength(answer.body)}`);
    expect(client.socket.readableEnded).toBe(false);
    await until(() => client.socket.destroyed);
  });

  it('is disconnected as soon as its body has ended, not after the whole time', async () => {
    const { client } = await connected({ bytes: 10_000, ms: LONG });
    await client.send(`${head('guarded', 'Transfer-Encoding: chunked')}5\r\nhello\r\n0\r\n\r\n`);
    expect((await client.answer()).status).toBe(401);
    await until(() => client.socket.destroyed);
  });

  it.each([
    ['large chunks', `10000\r\n${'x'.repeat(0x10000)}\r\n`],
    ['chunks of one byte, which are six times as many on the wire', '1\r\nx\r\n'.repeat(10_000)],
  ])('is slowed rather than read to its end: %s', async (_, chunk) => {
    const { client, socket } = await connected({ bytes: 500_000, ms: LONG });
    await client.send(head('guarded', 'Transfer-Encoding: chunked'));
    expect((await client.answer()).status).toBe(401);
    for (let sent = 0; sent < 256; sent += 1) client.socket.write(chunk);
    await until(() => socket.bytesRead > 500_000);
    await until(async () => {
      const before = socket.bytesRead;
      await new Promise((resolve) => setTimeout(resolve, 20));
      return socket.bytesRead === before;
    });
    expect(socket.bytesRead).toBeLessThan(1024 * 1024);
    expect(client.socket.destroyed).toBe(false);
  });

  it('leaves nothing behind when it goes away', async () => {
    const { client, socket } = await connected({ bytes: 1000, ms: LONG });
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    await client.send(head('guarded', 'Transfer-Encoding: chunked'));
    expect((await client.answer()).status).toBe(401);
    const before = timers();
    client.close();
    await until(() => socket.destroyed);
    await until(() => timers() < before);
  });
});

describe('a refused sender whose body has arrived', () => {
  it('keeps its connection, however large the body is', async () => {
    const { client } = await connected(
      { bytes: 1000, ms: LONG },
      {
        async receive(request) {
          for await (const _ of request.openBody(5000));
          // The line of a refusal is written first.
          await new Promise((resolve) => setImmediate(resolve));
          if (request.declaredLength === 5000) throw new Problem('body-malformed', 'no');
        },
      },
    );
    await client.send(head('intake', 'Content-Length: 5000') + 'x'.repeat(5000));
    expect(await client.answer()).toMatchObject({ status: 400, headers: { connection: 'keep-alive' } });
    expect(await deliverOn(client)).toBe(200);
  });
});

describe('a refused request without a body', () => {
  it('keeps its connection, also when nothing is drained', async () => {
    const { client } = await connected({ bytes: 0, ms: 0 });
    for (let n = 0; n < 2; n += 1) {
      await client.send('GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n');
      expect(await client.answer()).toMatchObject({ status: 404, headers: { connection: 'keep-alive' } });
    }
  });
});

describe('Retry-After', () => {
  it.each([
    ['what we ask for by ourselves', null, 5],
    ["the store's", 7000, 7],
    ['whole seconds, never too early', 7001, 8],
    ['at least one', 0, 1],
    ['at most ten minutes', 86_400_000, 600],
  ])('is %s', async (_, retryAfterMs, seconds) => {
    expect(retryAfterOf(new Problem('store-unavailable', 'x', { retryAfterMs }))).toBe(seconds);
  });
});

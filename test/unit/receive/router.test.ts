import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Problem } from '../../../src/domain/problem.js';
import { BodyAbortedError } from '../../../src/lib/http/request-body.js';
import type { CallbackRequest } from '../../../src/receive/callback-request.js';
import { openPublicPort, type PublicPort } from '../../support/http/public-port.js';
import type { RawClient } from '../../support/http/raw-http.js';
import { until } from '../../support/until.js';

let port: PublicPort;
let client: RawClient;
let received: CallbackRequest[];
let draining: AbortController;

beforeEach(async () => {
  received = [];
  draining = new AbortController();
  port = await openPublicPort({
    draining: draining.signal,
    async receive(request) {
      received.push(request);
      switch (request.sourceName) {
        case 'guarded':
          throw new Problem('credential-invalid', 'no');
        case 'reading':
          for await (const _ of request.openBody(10));
          break;
        case 'gone':
          throw new BodyAbortedError();
        case 'broken':
          throw new TypeError('a secret detail');
      }
      return { jobId: request.rawQuery };
    },
  });
  client = await port.connect();
});

afterEach(() => port.close());

const request = (path: string, method = 'POST') =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`;

const head = (line: string, ...lines: string[]) => [line, 'Host: a', ...lines, '', ''].join('\r\n');

describe('a callback', () => {
  it.each([
    ['POST', '/callbacks/intake', ''],
    ['PUT', '/callbacks/intake/?id=1&x=%zz?&=', 'id=1&x=%zz?&='],
  ])('is received as it was sent: %s %s', async (method, path, rawQuery) => {
    await client.send(`${head(`${method} ${path} HTTP/1.1`, 'X-A: 1', 'x-a: 2', 'Content-Length: 3')}abc`);
    expect(await client.answer()).toMatchObject({ status: 200 });
    expect(received).toEqual([
      expect.objectContaining({
        sourceName: 'intake',
        method,
        rawQuery,
        peer: '127.0.0.1',
        declaredLength: 3,
        isDelimited: true,
      }),
    ]);
    expect(received[0]?.headers['x-a']).toEqual(['1', '2']);
  });

  it('has the limit of its source for its body', async () => {
    await client.send(`${head('POST /callbacks/reading HTTP/1.1', 'Content-Length: 11')}0123456789A`);
    const answer = await client.answer();
    expect({ status: answer.status, code: JSON.parse(answer.body).code }).toEqual({
      status: 413,
      code: 'body-too-large',
    });
    expect(port.unexpected).toEqual([]);
  });

  it('is answered without headers that name the software', async () => {
    await client.send(request('/callbacks/intake'));
    const { headers } = await client.answer();
    expect(Object.keys(headers).sort()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'date',
      'keep-alive',
    ]);
  });

  it('is answered 500 without details when the receiver has a bug, which is reported', async () => {
    await client.send(request('/callbacks/broken'));
    const answer = await client.answer();
    expect(answer).toMatchObject({ status: 500, headers: { 'content-type': 'application/problem+json' } });
    expect(answer.body).not.toContain('secret');
    expect(port.unexpected).toEqual([new TypeError('a secret detail')]);
  });

  it('gets no response when its connection closed before it was complete', async () => {
    await client.send(request('/callbacks/gone'));
    await expect(client.answer()).rejects.toThrow();
    expect(client.socket.bytesRead).toBe(0);
    expect(port.unexpected).toEqual([]);
  });

  it.each([
    ['/callbacks/intake', 200],
    ['/callbacks/guarded', 401],
    ['/nowhere', 404],
  ])('is asked to reconnect while the replica drains: %s', async (path, status) => {
    draining.abort();
    await client.send(request(path));
    expect(await client.answer()).toMatchObject({ status, headers: { connection: 'close' } });
    await until(() => client.socket.destroyed);
  });
});

describe('the path of a callback', () => {
  it.each([
    '/callbacks/in-take_2',
    '/callbacks/in-take_2/',
    '/callbacks/in-take_2?id=1/',
    '/callbacks/in-take_2/?',
    '/callbacks/in%2Dtake_2',
    'http://a/callbacks/in-take_2',
  ])('names the source, with or without Express: %s', async (path) => {
    await client.send(request(path));
    expect((await client.answer()).status).toBe(200);
    expect(received.map(({ sourceName }) => sourceName)).toEqual(['in-take_2']);
  });

  it.each(['/callbacks', '/callbacks/', '/callbacks//', '/callbacks/a/b', '/Callbacks/a', '/callbacks?/a'])(
    'is none: %s',
    async (path) => {
      await client.send(request(path));
      expect((await client.answer()).status).toBe(404);
    },
  );
});

import { once } from 'node:events';
import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ConnectionRequests,
  isDropped,
} from '../../../../../src/lib/http/connections/connection-requests.js';
import { type RawClient, rawClient } from '../../../../support/http/raw-http.js';
import { until } from '../../../../support/until.js';

/** What Node's parser reads at a time. */
const READ = 64 * 1024;

let server: Server;
let requests: ConnectionRequests;
let client: RawClient;
let connection: Socket;
let made: number;
let waiting: ServerResponse[];
/** Whether requests are answered at once. */
let isPrompt: boolean;

class CountedRequest extends IncomingMessage {
  constructor(socket: Socket) {
    super(socket);
    made += 1;
  }
}

beforeEach(async () => {
  made = 0;
  waiting = [];
  isPrompt = false;
  requests = new ConnectionRequests();
  server = createServer(requests.bound(CountedRequest));
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    if (isDropped(request)) return;
    request.resume();
    if (isPrompt) response.end(request.url);
    else waiting.push(response);
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, take);
  server.on('connection', (socket: Socket) => {
    connection = socket;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = await rawClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterEach(async () => {
  client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const get = (path: string | number, ...lines: string[]): string =>
  [`GET /${path} HTTP/1.1`, 'Host: a', ...lines, '', ''].join('\r\n');

const gets = (count: number): string => Array.from({ length: count }, (_, n) => get(n)).join('');

function answerAll(): void {
  for (const response of waiting.splice(0)) response.end(response.req.url);
}

/** The paths of all answers until the connection ends. */
async function answeredPaths(): Promise<string[]> {
  const paths: string[] = [];
  for (;;) {
    const answer = await client.answer().catch(() => null);
    if (answer === null) return paths;
    paths.push(answer.body);
  }
}

const FIRST_EIGHT = Array.from({ length: 8 }, (_, n) => `/${n}`);

describe('up to eight requests of a connection', () => {
  it('are in hand at the same time and answered in order, and the connection goes on', async () => {
    for (let round = 0; round < 3; round += 1) {
      await client.send(gets(8));
      await until(() => waiting.length === 8);
      answerAll();
      const answers = [];
      for (let n = 0; n < 8; n += 1) answers.push(await client.answer());
      expect(answers.map(({ body }) => body)).toEqual(FIRST_EIGHT);
      expect(answers.at(-1)?.headers.connection).toBe('keep-alive');
    }
  });

  it('make room for another one with each answer', async () => {
    await client.send(gets(8));
    await until(() => waiting.length === 8);
    for (let n = 8; n < 40; n += 1) {
      waiting.shift()?.end('x');
      await client.answer();
      await client.send(get(n));
      await until(() => waiting.length === 8);
    }
    expect(connection.destroyed).toBe(false);
  });
});

describe('a ninth request', () => {
  it('ends the connection after the response to the eighth, which says so', async () => {
    await client.send(gets(9));
    await until(() => waiting.length === 8);
    answerAll();
    for (let n = 0; n < 7; n += 1) expect((await client.answer()).headers.connection).toBe('keep-alive');
    expect(await client.answer()).toMatchObject({ body: '/7', headers: { connection: 'close' } });
    expect(await answeredPaths()).toEqual([]);
    expect(waiting).toEqual([]);
  });

  it('does so, too, when it comes later than they', async () => {
    await client.send(gets(8));
    await until(() => waiting.length === 8);
    await client.send(get('late'));
    await until(() => made === 8 && waiting[7]?.shouldKeepAlive === false);
    answerAll();
    expect(await answeredPaths()).toEqual(FIRST_EIGHT);
  });

  it('does so when the head of the eighth response was sent already', async () => {
    await client.send(gets(8));
    await until(() => waiting.length === 8);
    for (const response of waiting) response.writeHead(200, { 'content-length': 2 });
    await client.send(get('late'));
    await until(() => waiting[7]?.shouldKeepAlive === false);
    answerAll();
    expect(await answeredPaths()).toEqual(FIRST_EIGHT);
  });

  it('does so when the first eight are answered at once, because nobody can have read that', async () => {
    isPrompt = true;
    await client.send(gets(20));
    expect(await answeredPaths()).toEqual(FIRST_EIGHT);
  });

  it.each([
    ['waits for 100 Continue', `${get('x', 'Expect: 100-continue', 'Content-Length: 2')}hi`],
    ['has another expectation', get('x', 'Expect: more')],
    ['has a body in chunks', `${get('x', 'Transfer-Encoding: chunked')}2\r\nhi\r\n0\r\n\r\n`],
    ['has trailers', `${get('x', 'Transfer-Encoding: chunked')}0\r\nX-End: 1\r\n\r\n`],
    ['never ends its body', `${get('x', 'Content-Length: 1000')}hi`],
  ])('is not processed when it %s', async (_, ninth) => {
    await client.send(gets(8) + ninth + gets(3));
    await until(() => waiting.length === 8);
    answerAll();
    expect(await answeredPaths()).toEqual(FIRST_EIGHT);
  });
});

describe('requests beyond the ninth', () => {
  it('cost no object, and nothing is read after them', async () => {
    isPrompt = false;
    for (let sent = 0; sent < 100; sent += 1) void client.send(gets(2_000));
    await until(() => waiting.length === 8);
    // Time in which more would be read.
    for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect({ made, waiting: waiting.length }).toEqual({ made: 8, waiting: 8 });
    expect(connection.bytesRead).toBeLessThanOrEqual(READ);
    answerAll();
    await until(() => connection.destroyed);
    expect(made).toBe(8);
    expect(connection.bytesRead).toBeLessThanOrEqual(READ);
  });

  it('do not touch the requests of another connection', async () => {
    const other = await rawClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await client.send(gets(100));
    await other.send(get('other'));
    await until(() => waiting.length === 9);
    answerAll();
    expect((await other.answer()).body).toBe('/other');
    other.close();
  });
});

describe('the responses of a connection', () => {
  it('are pending until they are sent', async () => {
    await client.send(gets(2));
    await until(() => waiting.length === 2);
    expect(requests.pendingOf(connection)).toEqual(waiting);
    waiting.shift()?.end('x');
    await client.answer();
    await until(() => requests.pendingOf(connection).length === 1);
    expect(requests.pendingOf(connection)).toEqual(waiting);
  });

  it('are announced to watchers when they begin and end', async () => {
    const events: string[] = [];
    requests.watch({
      began: () => events.push('began'),
      ended: (_connection, { req }) => events.push(`ended ${req.url}`),
    });
    isPrompt = true;
    await client.send(get('a'));
    await client.answer();
    await until(() => events.length === 2);
    expect(events).toEqual(['began', 'ended /a']);
  });
});

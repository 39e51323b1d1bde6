import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ConnectionRequests } from '../../../../src/lib/http/connections/connection-requests.js';
import {
  type MalformedRequest,
  rejectMalformedRequests,
} from '../../../../src/lib/http/malformed-requests.js';
import { type RawClient, rawClient } from '../../../support/http/raw-http.js';
import { until } from '../../../support/until.js';

let server: Server;
let client: RawClient;
let connection: Socket;
let requests: { readonly request: IncomingMessage; readonly response: ServerResponse }[];
let rejected: MalformedRequest[];

beforeEach(async () => {
  requests = [];
  rejected = [];
  const following = new ConnectionRequests();
  const classes = following.bound();
  server = createServer(
    { ...classes, connectionsCheckingInterval: 10, maxHeaderSize: 4096 },
    (request, response) => requests.push({ request, response }),
  );
  server.on('connection', (socket) => {
    connection = socket;
  });
  rejectMalformedRequests(server, following, (request) => rejected.push(request));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = await rawClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterEach(async () => {
  client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';

/** What the client received until the connection ended. */
async function received(): Promise<string> {
  let text = '';
  client.socket.on('data', (chunk) => {
    text += chunk;
  });
  await until(() => client.socket.destroyed);
  return text;
}

async function requestsReceived(count: number): Promise<void> {
  await until(() => requests.length === count);
}

describe('what is not valid HTTP/1.1', () => {
  it.each([
    ['garbage', 'GARBAGE\r\n\r\n', 400, 'Bad Request', 'request-malformed', 'This is not valid HTTP/1.1.'],
    [
      'large headers',
      `GET / HTTP/1.1\r\nX: ${'x'.repeat(5000)}`,
      431,
      'Request Header Fields Too Large',
      'head-too-large',
      'The headers are too large.',
    ],
    [
      'headers that do not end',
      'GET / HTTP/1.1\r\nX-',
      408,
      'Request Timeout',
      'head-too-slow',
      'The headers did not come in time.',
    ],
  ])(
    'is answered with a problem document, and the connection ends: %s',
    async (_, text, status, phrase, code, detail) => {
      const receiving = received();
      // It counts from the connection, and on a busy machine what is sent comes later.
      if (code === 'head-too-slow') server.headersTimeout = 50;
      await client.send(text);
      const [head, body = ''] = (await receiving).split('\r\n\r\n');
      expect(head?.split('\r\n')).toEqual([
        `HTTP/1.1 ${status} ${phrase}`,
        'Content-Type: application/problem+json',
        `Content-Length: ${Buffer.byteLength(body)}`,
        'Connection: close',
      ]);
      expect(JSON.parse(body)).toMatchObject({ status, code, detail });
      expect(rejected).toMatchObject([{ problem: { code, status }, reason: code, peer: '127.0.0.1' }]);
    },
  );

  it('ends the connection also for a sender that keeps its own side open', async () => {
    client.socket.allowHalfOpen = true;
    await until(() => connection !== undefined && !connection.destroyed);
    await client.send('GARBAGE\r\n\r\n');
    expect((await client.answer()).status).toBe(400);
    await until(() => connection.destroyed);
  });

  it('is answered once, however much of it comes', async () => {
    const receiving = received();
    await client.send('GARBAGE\r\n\r\n');
    for (let n = 0; n < 5; n += 1) await client.send('GARBAGE\r\n\r\n');
    expect((await receiving).split('HTTP/1.1 400 ')).toHaveLength(2);
    expect(rejected).toHaveLength(1);
  });

  it('waits for a response that takes its time', async () => {
    let text = '';
    client.socket.on('data', (chunk) => {
      text += chunk;
    });
    await client.send(`${GET}GARBAGE\r\n\r\n`);
    await requestsReceived(1);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(text).toBe('');
    requests[0]?.response.end('stored');
    await until(() => client.socket.destroyed);
    expect(text).toMatch(/^HTTP\/1\.1 200 .*stored.*HTTP\/1\.1 400 /s);
  });

  it('in the middle of a body is the answer to its request, which counts itself', async () => {
    const receiving = received();
    await client.send(`${POST}5\r\nhello\r\nZZ\r\n`);
    expect(await receiving).toMatch(/^HTTP\/1\.1 400 /);
    expect(rejected).toEqual([]);
  });

  it.each([
    ['a chunk that is not valid', () => client.send('ZZ\r\n')],
    ['the end of the connection', () => client.socket.end()],
  ])('in a body whose request was answered already is neither answered nor counted: %s', async (_, send) => {
    await client.send(POST);
    await requestsReceived(1);
    const receiving = received();
    requests[0]?.response.writeHead(401).end('refused');
    await until(() => client.socket.bytesRead > 0);
    await send();
    expect((await receiving).match(/HTTP\/1\.1/g)).toEqual(['HTTP/1.1']);
    expect(rejected).toEqual([]);
  });

  it('after a body that was received counts, as after any request', async () => {
    await client.send(`${POST}0\r\n\r\n`);
    await requestsReceived(1);
    const receiving = received();
    requests[0]?.request.resume().on('end', () => requests[0]?.response.end('stored'));
    await until(() => client.socket.bytesRead > 0);
    await client.send('GARBAGE\r\n\r\n');
    expect(await receiving).toMatch(/stored.*HTTP\/1\.1 400 /s);
    expect(rejected).toHaveLength(1);
  });

  it('in the middle of a body that is being answered already only ends the connection', async () => {
    await client.send(POST);
    await requestsReceived(1);
    const receiving = received();
    requests[0]?.response.writeHead(401, { 'content-length': 100 }).write('part of it');
    await until(() => client.socket.bytesRead > 0);
    await client.send('ZZ\r\n');
    const text = await receiving;
    expect(text).toMatch(/part of it$/);
    expect(text).not.toContain('400');
  });
});

describe('a connection that fails', () => {
  it('is closed without an answer', async () => {
    const receiving = received();
    const failure = Object.assign(new Error('read ETIMEDOUT'), { code: 'ETIMEDOUT' });
    await until(() => connection !== undefined && !connection.destroyed);
    server.emit('clientError', failure, connection);
    expect(await receiving).toBe('');
    expect(connection.errored).toBe(failure);
  });

  it('is closed also when the failure has no code', async () => {
    const receiving = received();
    await until(() => connection !== undefined && !connection.destroyed);
    server.emit('clientError', new Error('odd'), connection);
    expect(await receiving).toBe('');
  });
});

describe('a balancer that sends the PROXY protocol', () => {
  const V2 = Buffer.from('0d0a0d0a000d0a515549540a2111000ccb0071070a000001c8221f90', 'hex');

  it.each([
    ['a method that begins like it', 'PROXYING / HTTP/1.1\r\n\r\n'],
    ['a part of its signature', V2.subarray(0, 11)],
    ['its signature further on', `X${V2.toString('latin1')}`],
  ])('is not what anything else is taken for: %s', async (_, bytes) => {
    const receiving = received();
    await client.send(bytes);
    await receiving;
    expect(rejected.map(({ reason }) => reason)).not.toContain('proxy-protocol');
  });
});

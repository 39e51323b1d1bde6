import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { duplexPair } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ConnectionRequests } from '../../../../../src/lib/http/connections/connection-requests.js';
import {
  type ConnectionLimiter,
  limitConnections,
} from '../../../../../src/lib/http/connections/limit-connections.js';
import { type RawClient, rawClient } from '../../../../support/http/raw-http.js';
import { until } from '../../../../support/until.js';

const MOST = 3;

let server: Server;
let limiter: ConnectionLimiter;
let shed: number;
let clients: RawClient[];
let accepted: number;
let exchanges: Map<string, { readonly request: IncomingMessage; readonly response: ServerResponse }>;

/** Keeps every response for the test to send, by the path that was asked for. */
function keep(request: IncomingMessage, response: ServerResponse): void {
  exchanges.set(request.url ?? '', { request, response });
}

async function start(options: ServerOptions = {}): Promise<void> {
  const requests = new ConnectionRequests();
  server = createServer({ ...options, ...requests.bound() });
  limiter = limitConnections(server, requests, {
    maxConnections: MOST,
    isTrusted: (_request, { statusCode }) => statusCode === 200,
    onShed: () => {
      shed += 1;
    },
  });
  server.on('connection', () => {
    accepted += 1;
  });
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, keep);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}

beforeEach(async () => {
  shed = 0;
  accepted = 0;
  clients = [];
  exchanges = new Map();
  await start();
});

afterEach(async () => {
  for (const client of clients) client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const port = () => (server.address() as AddressInfo).port;

/** A connection that the server has seen. */
async function connected(): Promise<RawClient> {
  const before = accepted;
  const client = await rawClient(`http://127.0.0.1:${port()}`);
  clients.push(client);
  await until(() => accepted > before);
  return client;
}

const head = (path: string, ...lines: string[]) =>
  [`POST ${path} HTTP/1.1`, 'Host: a', ...lines, '', ''].join('\r\n');

/** Sends a request that the server keeps unanswered. */
async function begin(client: RawClient, path: string, ...lines: string[]): Promise<void> {
  await client.send(head(path, ...(lines.length > 0 ? lines : ['Content-Length: 0'])));
  await until(() => exchanges.has(path));
}

function respond(path: string, status: number): void {
  exchanges.get(path)?.response.writeHead(status, { 'content-length': 0 }).end();
}

async function exchange(client: RawClient, path: string, status: number): Promise<void> {
  await begin(client, path);
  respond(path, status);
  expect((await client.answer()).status).toBe(status);
}

/** Connects another client, and tells which were closed for it, by the order in which all were opened. */
async function closedForAnother(): Promise<number[]> {
  const open = clients.filter(({ socket }) => !socket.destroyed);
  const before = shed;
  open.push(await connected());
  await until(() => shed > before && open.some(({ socket }) => socket.destroyed));
  return open.filter(({ socket }) => socket.destroyed).map((client) => clients.indexOf(client));
}

async function idle(count: number): Promise<RawClient[]> {
  const made: RawClient[] = [];
  for (let n = 0; n < count; n += 1) made.push(await connected());
  return made;
}

describe('a server below its connection limit', () => {
  it('closes none, and counts those that are open', async () => {
    const [first] = await idle(MOST);
    expect({ open: limiter.open, shed }).toEqual({ open: MOST, shed: 0 });
    first?.close();
    await until(() => limiter.open === MOST - 1);
    await connected();
    expect({ open: limiter.open, shed }).toEqual({ open: MOST, shed: 0 });
  });
});

describe('to make room for a new connection', () => {
  it('each of several in the same turn closes another', async () => {
    const all = await idle(MOST);
    for (const [socket] of [duplexPair(), duplexPair()]) server.emit('connection', socket);
    expect({ open: limiter.open, shed }).toEqual({ open: MOST, shed: 2 });
    await until(() => all.filter(({ socket }) => socket.destroyed).length === 2);
    expect(all.map(({ socket }) => socket.destroyed)).toEqual([true, true, false]);
  });

  it('one in the middle of its head is as good as silent', async () => {
    const all = await idle(MOST);
    await all[0]?.send('POST /slow HTTP/1.1\r\nX-');
    expect(await closedForAnother()).toEqual([0]);
  });

  it('idle begins with the end of the last response', async () => {
    const all = await idle(MOST);
    await exchange(all[0] as RawClient, '/a', 401);
    expect(await closedForAnother()).toEqual([1]);
  });

  it('unauthenticated ones go before authenticated ones, however long those were idle', async () => {
    const all = await idle(MOST);
    await exchange(all[0] as RawClient, '/a', 200);
    await exchange(all[1] as RawClient, '/b', 200);
    await exchange(all[2] as RawClient, '/c', 401);
    expect(await closedForAnother()).toEqual([2]);
  });

  it('among authenticated ones the one goes that was idle for longest', async () => {
    const all = await idle(MOST);
    for (const n of [1, 0, 2]) await exchange(all[n] as RawClient, `/${n}`, 200);
    expect(await closedForAnother()).toEqual([1]);
  });

  it('one that was authenticated once stays so after a refusal', async () => {
    const all = await idle(MOST);
    await exchange(all[0] as RawClient, '/a', 200);
    await exchange(all[0] as RawClient, '/b', 401);
    await exchange(all[1] as RawClient, '/c', 401);
    expect(await closedForAnother()).toEqual([2]);
    expect(await closedForAnother()).toEqual([1]);
  });
});

describe('a connection with a delivery in flight', () => {
  it('is not closed while one of its pipelined requests is unanswered', async () => {
    const all = await idle(MOST);
    const [first] = all as [RawClient];
    await first.send(head('/a', 'Content-Length: 0') + head('/b', 'Content-Length: 0'));
    await until(() => exchanges.size === 2);
    respond('/a', 401);
    expect((await first.answer()).status).toBe(401);
    expect(await closedForAnother()).toEqual([1]);
    respond('/b', 401);
    expect((await first.answer()).status).toBe(401);
    expect(await closedForAnother()).toEqual([2]);
  });

  it('goes when it was refused and still sends', async () => {
    const all = await idle(MOST);
    for (const [n, client] of all.entries()) await begin(client, `/${n}`, 'Content-Length: 100');
    exchanges.get('/1')?.response.writeHead(401, { 'content-length': 9 }).write('part');
    expect(await closedForAnother()).toEqual([1]);
  });

  it('does not go when it is being accepted', async () => {
    const all = await idle(MOST);
    for (const [n, client] of all.entries()) await begin(client, `/${n}`, 'Content-Length: 100');
    exchanges.get('/1')?.response.writeHead(200, { 'content-length': 9 }).write('part');
    expect(await closedForAnother()).toEqual([MOST]);
  });

  it('does not go when another request on it is unanswered, or it was authenticated before', async () => {
    const all = await idle(MOST);
    const [first, second, third] = all as [RawClient, RawClient, RawClient];
    await exchange(first, '/known', 200);
    await begin(first, '/a', 'Content-Length: 100');
    exchanges.get('/a')?.response.writeHead(401, { 'content-length': 9 }).write('part');
    await second.send(head('/b', 'Content-Length: 0') + head('/c', 'Content-Length: 100'));
    await until(() => exchanges.has('/c'));
    exchanges.get('/c')?.response.writeHead(401, { 'content-length': 9 }).write('part');
    await begin(third, '/d');
    expect(await closedForAnother()).toEqual([MOST]);
  });

  it('frees its place when its sender goes away', async () => {
    const all = await idle(MOST);
    for (const [n, client] of all.entries()) await begin(client, `/${n}`);
    all[1]?.close();
    await until(() => limiter.open === MOST - 1);
    await connected();
    expect(shed).toBe(0);
    expect(limiter.open).toBe(MOST);
  });
});

describe('a connection that was closed to make room', () => {
  it('takes no place when its request ends later', async () => {
    const all = await idle(MOST);
    for (const [n, client] of all.entries()) await begin(client, `/${n}`, 'Content-Length: 100');
    exchanges.get('/0')?.response.writeHead(401, { 'content-length': 9 }).write('part');
    expect(await closedForAnother()).toEqual([0]);
    for (const next of [MOST, MOST + 1]) expect(await closedForAnother()).toEqual([next]);
    expect(limiter.open).toBe(MOST);
  });
});

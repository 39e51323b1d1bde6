import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { WholeAnswer } from '../../../../../src/store/s3/wire/answer-parser.js';
import { ConnectionPool } from '../../../../../src/store/s3/wire/connection-pool.js';
import type { WireRequest } from '../../../../../src/store/s3/wire/wire-request.js';
import { until } from '../../../../support/until.js';

const DONE = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

describe('the pool of connections', () => {
  let server: Server;
  let pool: ConnectionPool;
  /** Open and closed ones, in the order of their connecting. */
  let sockets: Socket[];
  /** What has arrived, on all connections. */
  let requests: string[];
  /** Called for each request. */
  let respond: (socket: Socket, request: string) => void;

  beforeEach(async () => {
    sockets = [];
    requests = [];
    respond = (socket) => socket.write(DONE);
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        requests.push(chunk.toString('latin1'));
        respond(socket, chunk.toString('latin1'));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    pool = open();
  });
  afterEach(async () => {
    pool.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });

  const port = () => (server.address() as AddressInfo).port;

  function open({ most = 2, origin = `http://127.0.0.1:${port()}`, connectTimeoutMs = 5_000 } = {}) {
    return new ConnectionPool(origin, most, connectTimeoutMs);
  }

  const send = (request: Partial<WireRequest> = {}) =>
    pool.send({
      method: 'PUT',
      path: '/a',
      headers: ['host', 'store', 'x-id', '1'],
      body: Buffer.from('body'),
      timeoutMs: 10_000,
      ...request,
    });

  it('sends head and body as they are given, and returns the answer', async () => {
    expect(await send()).toEqual({ status: 200, headers: { 'content-length': '0' }, text: '' });
    await send({ method: 'HEAD', path: '/b', body: null });
    await send({ body: Buffer.alloc(0) });
    expect(requests).toEqual([
      'PUT /a HTTP/1.1\r\nhost: store\r\nx-id: 1\r\ncontent-length: 4\r\n\r\nbody',
      'HEAD /b HTTP/1.1\r\nhost: store\r\nx-id: 1\r\n\r\n',
      'PUT /a HTTP/1.1\r\nhost: store\r\nx-id: 1\r\ncontent-length: 0\r\n\r\n',
    ]);
  });

  it('uses a connection again, and opens no more than it may', async () => {
    const held: Socket[] = [];
    respond = (socket) => held.push(socket);
    const sending = Promise.all(Array.from({ length: 7 }, () => send()));
    for (let n = 0; n < 7; n += 1) {
      await until(() => held.length > 0);
      expect(held.length).toBeLessThanOrEqual(2);
      held.shift()?.write(DONE);
    }
    await sending;
    expect(requests).toHaveLength(7);
    expect(sockets).toHaveLength(2);
  });

  it('sends in the order of the calls', async () => {
    pool.close();
    pool = open({ most: 1 });
    await Promise.all(['/1', '/2', '/3'].map((path) => send({ path })));
    expect(requests.map((request) => request.slice(4, 6))).toEqual(['/1', '/2', '/3']);
  });

  it('refuses what has found no connection in time, of which nothing is sent', async () => {
    respond = () => undefined;
    const stuck = [send(), send()].map((each) => each.catch((error: unknown) => error));
    await until(() => requests.length === 2);
    await expect(send({ timeoutMs: 30 })).rejects.toMatchObject({ code: 'PoolTimeout', status: null });
    for (const socket of sockets) socket.write(DONE);
    await Promise.all(stuck);
    respond = (socket) => socket.write(DONE);
    await send();
    expect(requests).toHaveLength(3);
  });

  it('ends an exchange that is not answered in time, and its connection', async () => {
    respond = (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc');
    await expect(send({ timeoutMs: 30 })).rejects.toMatchObject({ code: 'AnswerTimeout', status: null });
    await until(() => sockets[0]?.destroyed === true);
    respond = (socket) => socket.write(DONE);
    await send();
    expect(sockets).toHaveLength(2);
  });

  it('gives each exchange on a connection its own time', async () => {
    for (const timeoutMs of [500, 9_000, 9_000]) await send({ timeoutMs });
    respond = (socket) => void setTimeout(() => socket.write(DONE), 800);
    await send({ timeoutMs: 9_000 });
    await expect(send({ timeoutMs: 500 })).rejects.toMatchObject({ code: 'AnswerTimeout' });
    expect(sockets).toHaveLength(1);
  });

  it('says why no connection could be opened, to each that waits', async () => {
    const free = port();
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
    pool.close();
    pool = open({ origin: `http://127.0.0.1:${free}`, most: 2 });
    const failed = await Promise.allSettled(Array.from({ length: 5 }, () => send()));
    for (const each of failed) expect(each).toMatchObject({ reason: { code: 'ECONNREFUSED' } });
  });

  it('gives up a connection that does not open in time', async () => {
    // TLS, to a server that does not speak it.
    pool.close();
    respond = () => undefined;
    pool = open({ origin: `https://localhost:${port()}`, connectTimeoutMs: 50 });
    await expect(send()).rejects.toMatchObject({ code: 'ConnectTimeout', status: null });
  });

  it('opens a connection when one breaks while others wait', async () => {
    pool.close();
    pool = open({ most: 1 });
    respond = (socket) => (sockets.length === 1 ? socket.destroy() : socket.write(DONE));
    const [first, second] = await Promise.allSettled([send(), send()]);
    expect(first).toMatchObject({ reason: { code: 'ECONNRESET' } });
    expect(second.status).toBe('fulfilled');
  });

  it.each<[string, string]>([
    ['has ended it', ''],
    ['said that it would', 'connection: close\r\n'],
    ['keeps it too briefly', 'keep-alive: timeout=2\r\n'],
  ])('does not use a connection again whose server %s', async (_, header) => {
    respond = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${header}content-length: 0\r\n\r\n`);
      if (header === '') socket.end();
    };
    await send();
    await until(() => sockets[0]?.destroyed === true);
    await send();
    expect(sockets).toHaveLength(2);
  });

  it('keeps an idle connection as long as its server says, less a margin', async () => {
    respond = (socket) =>
      socket.write('HTTP/1.1 200 OK\r\nkeep-alive: timeout=2.1, max=9\r\ncontent-length: 0\r\n\r\n');
    await send();
    respond = (socket) =>
      socket.write('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=3\r\ncontent-length: 0\r\n\r\n');
    await send();
    await send();
    expect(sockets).toHaveLength(2);
    await until(() => sockets[1]?.destroyed === true);
  });

  it('sends nothing over a connection that has just broken', async () => {
    await send();
    const sending = new Promise<Promise<WholeAnswer>>((sent) => {
      setTimeout(() => {
        sockets[0]?.resetAndDestroy();
        // After the error was read, and before the socket has emitted `close`.
        setImmediate(() => sent(send()));
      });
    });
    expect(await sending).toMatchObject({ status: 200 });
    expect(sockets).toHaveLength(2);
  });

  it('closes a connection over which unexpected bytes come', async () => {
    await send();
    sockets[0]?.write(DONE);
    await until(() => sockets[0]?.destroyed === true);
    await send();
    expect(sockets).toHaveLength(2);
  });

  it('ends an exchange whose signal aborts, while it waits and while it is sent', async () => {
    respond = () => undefined;
    pool.close();
    pool = open({ most: 1 });
    const stop = new AbortController();
    const both = [send({ signal: stop.signal }), send({ signal: stop.signal })];
    await until(() => requests.length === 1);
    stop.abort(new Error('stopped'));
    for (const each of both) await expect(each).rejects.toThrow('stopped');
    await expect(send({ signal: stop.signal })).rejects.toThrow('stopped');
    await until(() => sockets[0]?.destroyed === true);
    respond = (socket) => socket.write(DONE);
    await send();
    expect(requests).toHaveLength(2);
  });

  it('leaves no listener on a signal that many exchanges have', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    await Promise.all(Array.from({ length: 5 }, () => send({ signal })));
    expect(listeners).toBe(0);
  });

  it('rejects with what the caller finds in the answer, and uses the connection again', async () => {
    const accept = () => {
      throw new Error('not this one');
    };
    await expect(send({ accept })).rejects.toThrow('not this one');
    await send();
    expect(sockets).toHaveLength(1);
  });

  it('sends no header that would break the request apart', async () => {
    for (const value of ['a\r\nb: c', 'a\nb', 'a\0', 'ā'])
      await expect(send({ headers: ['x-id', value] })).rejects.toThrow('the header x-id has a value');
    for (const name of ['', 'a b', 'a:b', 'a\r\nb', 'Content-Length', 'transfer-encoding'])
      await expect(send({ headers: [name, '1'] })).rejects.toThrow(/^the header .* cannot be sent$/);
    expect(requests).toEqual([]);
  });

  it('ends everything when it is closed', async () => {
    respond = () => undefined;
    const three = [send(), send(), send()].map((each) => each.catch((error: unknown) => error));
    await until(() => requests.length === 2);
    pool.close();
    for (const each of three) expect(await each).toMatchObject({ code: 'StoreClosed' });
    await expect(send()).rejects.toMatchObject({ code: 'StoreClosed' });
    await until(() => sockets.every((socket) => socket.destroyed));
  });
});

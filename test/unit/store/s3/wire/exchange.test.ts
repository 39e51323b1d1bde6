import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Pool } from 'undici';
import { createConnect } from '../../../../../src/lib/outbound/connect.js';
import { NO_PROXIES } from '../../../../../src/lib/outbound/proxy-settings.js';
import { Exchange, type WireRequest } from '../../../../../src/store/s3/wire/exchange.js';
import { openPool } from '../../../../../src/store/s3/wire/store-pool.js';
import { until } from '../../../../support/until.js';

/** Milliseconds for what is not to time out, however busy the machine is. */
const PATIENCE = 60_000;
const MIB = 1024 * 1024;
/** More than the kernel takes of a body that nobody reads. */
const LARGE = 16 * MIB;
/** All but `setTimeout`. */
const REAL = [
  ...([
    'Date',
    'hrtime',
    'nextTick',
    'performance',
    'queueMicrotask',
    'setImmediate',
    'clearImmediate',
  ] as const),
  ...(['setInterval', 'clearInterval'] as const),
];
const DONE = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

describe('an exchange with the store', () => {
  let server: Server;
  let pool: Pool;
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
    jest.useRealTimers();
    await pool.destroy();
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });

  const port = () => (server.address() as AddressInfo).port;

  function open({ most = 2, origin = `http://127.0.0.1:${port()}`, connectTimeoutMs = PATIENCE } = {}) {
    return openPool(origin, most, createConnect({ timeout: connectTimeoutMs, proxies: NO_PROXIES }));
  }

  async function useOneConnection(): Promise<void> {
    await pool.destroy();
    pool = open({ most: 1 });
  }

  /** Time-outs end when the test says so, however long the machine takes. */
  function useManualTimers(): void {
    jest.useFakeTimers({ doNotFake: REAL });
  }

  async function send(request: Partial<WireRequest> = {}) {
    const exchange = new Exchange({
      method: 'PUT',
      path: '/a',
      headers: { host: 'store', 'x-id': '1' },
      body: Buffer.from('body'),
      timeoutMs: PATIENCE,
      ...request,
    });
    pool.dispatch(exchange.options, exchange);
    return exchange.answer;
  }

  it('sends head and body as they are given, and returns the answer', async () => {
    expect(await send()).toEqual({ status: 200, headers: { 'content-length': '0' }, text: '' });
    await send({ method: 'HEAD', path: '/b', body: null });
    await send({ body: Buffer.alloc(0) });
    expect(requests).toEqual([
      'PUT /a HTTP/1.1\r\nhost: store\r\nconnection: keep-alive\r\nx-id: 1\r\ncontent-length: 4\r\n\r\nbody',
      'HEAD /b HTTP/1.1\r\nhost: store\r\nconnection: keep-alive\r\nx-id: 1\r\n\r\n',
      'PUT /a HTTP/1.1\r\nhost: store\r\nconnection: keep-alive\r\nx-id: 1\r\ncontent-length: 0\r\n\r\n',
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
    await useOneConnection();
    await send();
    useManualTimers();
    respond = async (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc');
      for (let turn = 0; turn < 3; turn += 1) await nextTurn();
      jest.advanceTimersByTime(300);
    };
    await expect(send({ timeoutMs: 300 })).rejects.toMatchObject({ code: 'AnswerTimeout', status: null });
    jest.useRealTimers();
    await until(() => sockets[0]?.destroyed === true);
    respond = (socket) => socket.write(DONE);
    await send();
    expect(sockets).toHaveLength(2);
  });

  it('ends an exchange whose body is not taken any more, before its whole time is over', async () => {
    respond = (socket) => socket.pause();
    const sending = send({ body: Buffer.alloc(LARGE), stallMs: 300 });
    await expect(sending).rejects.toMatchObject({ code: 'SendTimeout', status: null });
    respond = (socket) => socket.write(DONE);
    await send();
    expect(sockets).toHaveLength(2);
  });

  it('sends a body that is taken slowly, as it is, on a connection that serves again', async () => {
    await useOneConnection();
    useManualTimers();
    const body = randomBytes(LARGE);
    let received = 0;
    respond = (socket, text) => {
      const before = received;
      received += text.length;
      if (Math.floor(before / MIB) < Math.floor(received / MIB)) jest.advanceTimersByTime(250);
      if (received === headBytes() + LARGE) socket.write(DONE);
    };
    const headBytes = () => (requests[0] ?? '').indexOf('\r\n\r\n') + 4;
    expect(await send({ body, stallMs: 2_000 })).toMatchObject({ status: 200 });
    expect(requests[0]).toContain(`content-length: ${LARGE}\r\n`);
    const sent = Buffer.from(requests.join(''), 'latin1').subarray(headBytes());
    expect(sent.equals(body)).toBe(true);
    respond = (socket) => socket.write(DONE);
    await send();
    expect(sockets).toHaveLength(1);
  });

  it('skips informational answers, and waits no longer when they do not end', async () => {
    await useOneConnection();
    respond = (socket) => socket.write(`HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n${DONE}`);
    expect(await send()).toMatchObject({ status: 200, headers: { 'content-length': '0' } });
    useManualTimers();
    const hints: NodeJS.Timeout[] = [];
    const hint = (socket: Socket) => {
      socket.write('HTTP/1.1 102 Processing\r\n\r\n');
      jest.advanceTimersByTime(5);
    };
    respond = (socket) => hints.push(setInterval(hint, 5, socket));
    await expect(send({ timeoutMs: 100 })).rejects.toMatchObject({ code: 'AnswerTimeout' });
    for (const each of hints) clearInterval(each);
  });

  it('gives each exchange on a connection its own time', async () => {
    await useOneConnection();
    await send();
    useManualTimers();
    // The time of the second one ends within the fourth.
    for (const timeoutMs of [2_000, PATIENCE]) await send({ timeoutMs });
    respond = (socket) => {
      jest.advanceTimersByTime(2_500);
      socket.write(DONE);
    };
    await send({ timeoutMs: PATIENCE });
    respond = () => void jest.advanceTimersByTime(500);
    await expect(send({ timeoutMs: 500 })).rejects.toMatchObject({ code: 'AnswerTimeout' });
    expect(sockets).toHaveLength(1);
  });

  it('ends an exchange whose signal aborts, while it waits and while it is sent', async () => {
    respond = () => undefined;
    await useOneConnection();
    const stop = new AbortController();
    const inPieces = { body: Buffer.alloc(LARGE), stallMs: PATIENCE };
    const both = [send({ signal: stop.signal }), send({ signal: stop.signal, ...inPieces })];
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
});

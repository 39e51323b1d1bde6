import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Pool } from 'undici';
import { ConnectionPool } from '../../../../../src/store/s3/wire/connection-pool.js';

interface Message {
  readonly request: {
    readonly origin: string | URL;
    readonly method: string;
    readonly path: string;
    addHeader(name: string, value: string): void;
  };
  readonly socket?: Socket;
  readonly response?: { readonly statusCode: number; readonly headers: readonly (string | Buffer)[] };
  readonly error?: Error;
}

const CHANNELS = [
  'undici:request:create',
  'undici:client:sendHeaders',
  'undici:request:headers',
  'undici:request:trailers',
  'undici:request:error',
];

describe('exchanges with a store, to a subscriber of undici', () => {
  /** What was published, by the path of its request. */
  const published = new Map<string, unknown[]>();
  const listeners = CHANNELS.map((name) => (message: unknown) => note(name, message as Message));
  const received: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    received.push(request);
    if (request.url?.endsWith('broken')) return void response.destroy();
    request.resume().on('end', () => response.writeHead(200, { etag: '"1"' }).end());
  });
  let origin: string;

  function note(name: string, { request, socket, response, error }: Message): void {
    if (name === 'undici:request:create') request.addHeader('traceparent', '00-1-2-01');
    const tag = response?.headers.map(String).indexOf('etag') ?? -1;
    published.set(request.path, [
      ...(published.get(request.path) ?? []),
      {
        name,
        origin: String(request.origin),
        method: request.method,
        peer: socket?.remotePort,
        status: response?.statusCode,
        etag: response?.headers.map(String)[tag + 1],
        failed: error !== undefined,
      },
    ]);
  }

  beforeEach(async () => {
    for (const [n, name] of CHANNELS.entries()) subscribe(name, listeners[n] as (typeof listeners)[0]);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    for (const [n, name] of CHANNELS.entries()) unsubscribe(name, listeners[n] as (typeof listeners)[0]);
    server.closeAllConnections();
    server.close();
  });

  it.each(['PUT', 'HEAD'] as const)('look like those of undici: %s', async (method) => {
    const body = method === 'PUT' ? Buffer.from('x') : null;
    const ours = new ConnectionPool(origin, 1, 5_000);
    const theirs = new Pool(origin);
    for (const end of ['answered', 'broken']) {
      const headers = ['host', 'store'];
      const path = `/ours/${method}/${end}`;
      await ours.send({ method, path, headers, body, timeoutMs: 5_000 }).catch(() => undefined);
      const theirPath = `/theirs/${method}/${end}`;
      const answer = await theirs.request({ method, path: theirPath, headers, body }).catch(() => null);
      await answer?.body.dump();
      expect(published.get(path)).toHaveLength(end === 'answered' ? 4 : 3);
      expect(published.get(path)).toEqual(published.get(theirPath));
    }
    ours.close();
    await theirs.close();
    for (const { headers } of received) expect(headers.traceparent).toBe('00-1-2-01');
  });
});

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { allowPauses, closeUnread } from '../../../../../src/lib/http/connections/close-unread.js';
import { ConnectionRequests } from '../../../../../src/lib/http/connections/connection-requests.js';
import { until } from '../../../../support/until.js';

/** More than the operating system takes for a connection whose client reads nothing. */
const LARGE = Buffer.alloc(32 * 1024 * 1024);

let server: Server;
let client: Socket;
let connection: Socket;
let time: number;
let checks: number;

beforeEach(async () => {
  time = 0;
  checks = 0;
  const requests = new ConnectionRequests();
  server = createServer(requests.bound(), ({ url }, response) => {
    if (url === '/download') allowPauses(response);
    if (url !== '/waits') response.end(url === '/small' ? 'x' : LARGE);
  });
  server.on('connection', (socket: Socket) => {
    connection = socket;
  });
  const now = () => {
    checks += 1;
    return time;
  };
  closeUnread(server, requests, 30_000, { now, every: 50 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  client.pause();
  await once(client, 'connect');
});

afterEach(async () => {
  client.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function ask(path: string): void {
  client.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
}

async function checked(): Promise<void> {
  const before = checks;
  await until(() => checks > before + 1);
}

/** Resolves when the operating system takes no more. */
async function stuck(): Promise<void> {
  let before = -1;
  await until(async () => {
    const taken = connection.bytesWritten - connection.writableLength;
    const isStuck = connection.writableLength > 0 && taken === before;
    before = taken;
    await checked();
    return isStuck;
  });
}

describe('a connection whose client reads nothing', () => {
  it('is closed after 30 s', async () => {
    ask('/large');
    await stuck();
    time = 29_999;
    await checked();
    expect(connection.destroyed).toBe(false);
    time = 30_001;
    await until(() => connection.destroyed);
  });

  it('has 30 s from the last byte that it read', async () => {
    ask('/large');
    await stuck();
    time = 20_000;
    client.resume();
    await until(() => connection.writableLength === 0);
    client.pause();
    ask('/large');
    await stuck();
    time = 49_000;
    await checked();
    expect(connection.destroyed).toBe(false);
    time = 51_000;
    await until(() => connection.destroyed);
  });

  it.each([['/small'], ['/waits'], ['/download']])(
    'is left alone when nothing waits for it, or may: %s',
    async (path) => {
      ask(path);
      await (path === '/download' ? stuck() : checked());
      for (const later of [29_000, 61_000, 300_000]) {
        time = later;
        await checked();
      }
      expect(connection.destroyed).toBe(false);
    },
  );
});

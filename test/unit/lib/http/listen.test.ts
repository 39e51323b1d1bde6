import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { listen } from '../../../../src/lib/http/listen.js';

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    if (!server.listening) continue;
    server.close();
    await once(server, 'close');
  }
});

function newServer(): Server {
  const server = createServer();
  servers.push(server);
  return server;
}

const SETTINGS = { section: 'receiver', variable: 'TR_PORT' } as const;

describe('listen', () => {
  it.each([
    ['', 'localhost'],
    ['0.0.0.0', 'localhost'],
    ['127.0.0.1', '127.0.0.1'],
    ['::', 'localhost'],
    ['::1', '[::1]'],
  ])('on %s resolves with a URL of %s that a browser can open', async (host, name) => {
    const server = newServer();
    const url = await listen(server, { host, port: 0, ...SETTINGS });
    expect(url).toBe(`http://${name}:${(server.address() as AddressInfo).port}`);
    expect(server.listenerCount('error')).toBe(0);
  });

  it('names the setting to change when the port is in use', async () => {
    const first = newServer();
    await listen(first, { host: '127.0.0.1', port: 0, ...SETTINGS });
    const { port } = first.address() as AddressInfo;
    const second = listen(newServer(), { host: '127.0.0.1', port, ...SETTINGS });
    await expect(second).rejects.toThrow(
      `port ${port} on 127.0.0.1 is in use by another process: stop that one or change receiver.port (TR_PORT)`,
    );
  });

  it('names the setting to change when the machine does not have the address', async () => {
    const listening = listen(newServer(), { host: '192.0.2.1', port: 0, ...SETTINGS });
    await expect(listening).rejects.toThrow(
      '192.0.2.1 is not an address of this machine: change receiver.host',
    );
  });
});

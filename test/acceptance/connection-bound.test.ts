import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type RawClient, rawClient } from '../support/http/raw-http.js';
import { startProcess, startReady } from '../support/processes/receiver-process.js';
import { type RunningService, startService } from '../support/processes/running-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

/* More connections than a port takes: who has to go, and who never has to. */

const TOKEN = 'correct-horse-battery-staple';
const MOST = 16;
const HALF_HEAD = 'POST /callbacks/guarded?id=x HTTP/1.1\r\nHost: receiver\r\nX-';

let service: RunningService;
let sockets: Socket[];

beforeEach(async () => {
  sockets = [];
  service = await startService(
    { sources: { guarded: { credentials: { main: { headers: [`X-Callback-Token: ${TOKEN}`] } } } } },
    { maxConnections: MOST, maxAdminConnections: MOST, drainTime: 20_000 },
  );
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await service.stop();
});

async function connected(url: string, text: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => {});
  await once(socket, 'connect');
  // Read, or its end is never seen.
  socket.resume();
  socket.write(text);
  return socket;
}

function deliver(id: string, token = TOKEN): Promise<number> {
  return fetch(`${service.publicUrl}/callbacks/guarded?id=${id}&status=success`, {
    method: 'POST',
    headers: { 'x-callback-token': token, connection: 'close' },
    body: 'x',
  }).then(({ status }) => status);
}

async function client(url: string): Promise<RawClient> {
  const opened = await rawClient(url);
  sockets.push(opened.socket);
  return opened;
}

const callback = (id: string, length: number) =>
  `POST /callbacks/guarded?id=${id}&status=success HTTP/1.1\r\nHost: a\r\nX-Callback-Token: ${TOKEN}\r\nContent-Length: ${length}\r\n\r\n`;

async function shed(port: string): Promise<number> {
  const metrics = await (
    await fetch(`${service.adminUrl}/metrics`, { headers: { connection: 'close' } })
  ).text();
  const sample = new RegExp(`^transcript_receiver_connections_shed_total\\{port="${port}"\\} (\\d+)`, 'm');
  return Number(sample.exec(metrics)?.[1]);
}

describe('a port at its connection limit', () => {
  it.each([
    ['that say nothing', ''],
    ['in the middle of their heads', HALF_HEAD],
  ])(
    'closes the longest idle unauthenticated connections, %s, and still serves callbacks',
    async (_, text) => {
      const idle: Socket[] = [];
      for (let n = 0; n < 3 * MOST; n += 1) {
        idle.push(await connected(service.publicUrl, text));
        if (n % MOST === 0) expect(await deliver(`honest${n}`)).toBe(200);
      }
      await until(() => idle.slice(0, MOST).every((socket) => socket.destroyed));
      expect(idle.at(-1)?.destroyed).toBe(false);
      expect(await shed('public')).toBeGreaterThanOrEqual(2 * MOST);
      const line = service.log.find(({ event }) => event === 'connection-shed');
      expect(line).toMatchObject({ port: 'public', most: MOST });
    },
  );

  it('keeps deliveries in flight, and the idle connection of a sender whose callback was accepted', async () => {
    const receiving = await client(service.publicUrl);
    await receiving.send(`${callback('slow', 5)}he`);
    const known = await client(service.publicUrl);
    await known.send(`${callback('known1', 2)}hi`);
    expect((await known.answer()).status).toBe(200);
    for (let n = 0; n < 2 * MOST; n += 1) await connected(service.publicUrl, HALF_HEAD);
    expect(await shed('public')).toBeGreaterThan(0);
    await known.send(`${callback('known2', 2)}hi`);
    expect((await known.answer()).status).toBe(200);
    await receiving.send('llo');
    expect((await receiving.answer()).status).toBe(200);
  });

  it('keeps the admin port usable for a signed-in client', async () => {
    const known = await client(service.adminUrl);
    const health = `GET /admin/api/health HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.adminToken}\r\n\r\n`;
    await known.send(health);
    expect((await known.answer()).status).toBe(200);
    for (let n = 0; n < 2 * MOST; n += 1) await connected(service.adminUrl, 'GET / HT');
    await known.send(health);
    expect((await known.answer()).status).toBe(200);
    expect(await shed('admin')).toBeGreaterThan(0);
  });
});

/**
 * More than the modules of `serve`, about 400: Node reads all imports of a module at once, so that a busy machine may have
 * most of them open in the same moment. 128 are too few on some starts.
 */
const OPEN_FILES = 512;

describe('a process that may open few files', () => {
  it('accepts fewer connections, so that files remain for callbacks', async () => {
    const folder = await temporaryFolder();
    const settings = { receiver: { host: '127.0.0.1', port: 0 }, admin: { port: 0 } };
    const receiver = await startReady(
      { ...settings, store: { url: `file:${folder.path}` } },
      {},
      { openFiles: OPEN_FILES },
    );
    try {
      expect(receiver.log).toContainEqual(
        expect.objectContaining({ event: 'connections-bounded', openFiles: OPEN_FILES }),
      );
      for (let n = 0; n < OPEN_FILES + 100; n += 1) await connected(receiver.publicUrl, HALF_HEAD);
      for (let n = 0; n < 10; n += 1) {
        const url = `${receiver.publicUrl}/callbacks/default?id=few${n}&status=success`;
        expect(
          (await fetch(url, { method: 'POST', body: 'x', headers: { connection: 'close' } })).status,
        ).toBe(200);
      }
    } finally {
      await receiver.destroy();
      await folder.remove();
    }
  });

  it('is told so where they are too few to prove the store, and not that the store is at fault', async () => {
    const folder = await temporaryFolder();
    const receiver = await startProcess({ store: { url: `file:${folder.path}` } }, {}, { openFiles: 64 });
    try {
      await until(() => receiver.log.some(({ event }) => event === 'store-probe'));
      expect(receiver.log).toContainEqual(
        expect.objectContaining({
          event: 'store-probe',
          condition: 'too-many-files',
          remedy: expect.stringMatching(/ulimit -n/),
          msg: expect.not.stringMatching(/condition/i),
        }),
      );
      const ready = await fetch(`${receiver.publicUrl}/readyz`);
      expect(ready.status).toBe(503);
    } finally {
      await receiver.destroy();
      await folder.remove();
    }
  });
});

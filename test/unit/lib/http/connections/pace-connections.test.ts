import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ConnectionRequests } from '../../../../../src/lib/http/connections/connection-requests.js';
import { paceConnections } from '../../../../../src/lib/http/connections/pace-connections.js';
import { type RawClient, rawClient } from '../../../../support/http/raw-http.js';
import { until } from '../../../../support/until.js';

const PER_TURN = 2;
const MANY = 30;
const FLOOD = 200;
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

let server: Server;
let url: string;
let clients: RawClient[];
let accepted: Socket[];
/** Requests in each turn of the event loop that had any. */
let turns: number[];
/** The path of each request in the order of their handling, and how many connections were accepted by then. */
let handled: { readonly path: string | undefined; readonly accepted: number }[];

beforeEach(async () => {
  clients = [];
  accepted = [];
  turns = [];
  handled = [];
  const requests = new ConnectionRequests();
  let isCounted = false;
  server = createServer(requests.bound(), (request, response) => {
    handled.push({ path: request.url, accepted: accepted.length });
    if (!isCounted) {
      isCounted = true;
      turns.push(0);
      setImmediate(() => {
        isCounted = false;
      });
    }
    turns[turns.length - 1] = (turns.at(-1) ?? 0) + 1;
    response.end('x');
  });
  paceConnections(server, requests);
  server.on('connection', (socket: Socket) => accepted.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  for (const client of clients) client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function connected(count: number): Promise<RawClient[]> {
  const opened = await Promise.all(Array.from({ length: count }, () => rawClient(url)));
  clients.push(...opened);
  await until(() => accepted.length === clients.length);
  return opened;
}

async function sendAtOnce(senders: readonly RawClient[]): Promise<void> {
  for (const { socket } of senders) socket.write(GET);
  const answers = await Promise.all(senders.map((client) => client.answer()));
  expect(answers.map(({ status }) => status)).toEqual(senders.map(() => 200));
}

describe('requests of new connections', () => {
  it('are read a few in each turn of the event loop, and all answered', async () => {
    await sendAtOnce(await connected(MANY));
    expect(Math.max(...turns)).toBeLessThanOrEqual(PER_TURN);
    expect(turns.reduce((sum, count) => sum + count)).toBe(MANY);
  });

  it('are read although many connections send nothing', async () => {
    const silent = await connected(MANY);
    for (const round of [0, 1, 2]) await sendAtOnce(await connected(MANY + round));
    await sendAtOnce(silent);
    expect(Math.max(...turns)).toBeLessThanOrEqual(PER_TURN);
  });

  it('are read although connections that waited were closed', async () => {
    const senders = await connected(MANY);
    server.once('request', () => {
      for (const socket of accepted.slice(0, MANY / 2)) socket.destroy();
    });
    for (const { socket } of senders) socket.write(GET);
    const answered = senders.map((client) =>
      client.answer().then(
        () => true,
        () => false,
      ),
    );
    expect((await Promise.all(answered)).filter(Boolean).length).toBeGreaterThanOrEqual(MANY / 2);
  });

  it('are read after those that wait were accepted, and the newest and the oldest first', async () => {
    const flood = Array.from({ length: FLOOD }, async (_, n) => {
      const client = await rawClient(url);
      clients.push(client);
      client.socket.write(`GET /${n} HTTP/1.1\r\nHost: a\r\n\r\n`);
      await client.answer();
    });
    await Promise.all(flood);
    expect(handled).toHaveLength(FLOOD);
    expect(handled[FLOOD / 10]?.accepted).toBeGreaterThan(FLOOD / 4);
    expect(handled.findIndex(({ path }) => path === `/${FLOOD - 1}`)).toBeLessThan(FLOOD / 2);
    expect(handled.findIndex(({ path }) => path === '/0')).toBeLessThan(FLOOD / 2);
  });
});

it('leaves connections alone that sent a request before', async () => {
  const known = await connected(MANY);
  await sendAtOnce(known);
  turns = [];
  await sendAtOnce(known);
  expect(turns.reduce((sum, count) => sum + count)).toBe(MANY);
  expect(Math.max(...turns)).toBeGreaterThan(PER_TURN);
});

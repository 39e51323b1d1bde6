import { createServer } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import express from 'express';
import fc from 'fast-check';
import { joiningRequest } from '../../../../src/lib/http/joining-request.js';
import { type RawClient, rawClient } from '../../../support/http/raw-http.js';

const HEAD = 'POST / HTTP/1.1\r\nHost: receiver\r\nTransfer-Encoding: chunked\r\n\r\n';

/** A server that reads bodies, pausing after every piece, and answers with what came and in how many pieces. */
async function readingServer<T>(use: (client: RawClient) => Promise<T>): Promise<T> {
  const app = express();
  app.post('/', async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) {
      pieces.push(piece as Buffer);
      await turn();
    }
    response.json({ pieces: pieces.length, body: Buffer.concat(pieces).toString('latin1') });
  });
  const server = createServer({ IncomingMessage: joiningRequest(app) }, app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = await rawClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    return await use(client);
  } finally {
    client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

function chunked(pieces: readonly string[]): string {
  return `${pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`;
}

async function answerTo(client: RawClient, pieces: readonly string[]) {
  void client.send(HEAD + chunked(pieces));
  return JSON.parse((await client.answer()).body) as { pieces: number; body: string };
}

describe('a request whose body arrives in tiny chunks', () => {
  it('hands them over together', async () => {
    const bytes = Array.from({ length: 50_000 }, (_, n) => String.fromCharCode(33 + (n % 90)));
    const { pieces, body } = await readingServer((client) => answerTo(client, bytes));
    expect(body === bytes.join('')).toBe(true);
    expect(pieces).toBeLessThan(1000);
  });

  it('keeps every byte in order, whatever the sizes, also on a connection that goes on', async () => {
    const piece = fc
      .integer({ min: 1, max: 20_000 })
      .chain((length) =>
        fc
          .constantFrom(...'abc')
          .map((letter) => letter.repeat(length % 3 === 0 ? length : (length % 40) + 1)),
      );
    await readingServer((client) =>
      fc.assert(
        fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
          const { body } = await answerTo(client, pieces);
          expect(body === pieces.join('')).toBe(true);
        }),
        { numRuns: 40 },
      ),
    );
  });
});

describe('connections that send tiny chunks without end', () => {
  it('are read on one at a time, a turn of the event loop each', async () => {
    const app = express();
    app.post('/', (request) => request.resume());
    const sockets: Socket[] = [];
    const server = createServer({ IncomingMessage: joiningRequest(app) }, app).on('connection', (socket) =>
      sockets.push(socket),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const clients = await Promise.all(Array.from({ length: 10 }, () => rawClient(url)));
    for (const client of clients) void client.send(HEAD + '1\r\nx\r\n'.repeat(200_000));
    // Turn by turn: a wait by the clock could end after all was read.
    while (sockets.length < 10 || sockets.some(({ bytesRead }) => bytesRead <= 100_000)) await turn();
    const readInTurn: number[] = [];
    for (let n = 0; n < 30; n += 1) {
      const before = sockets.map(({ bytesRead }) => bytesRead);
      await turn();
      readInTurn.push(sockets.filter(({ bytesRead }, index) => bytesRead !== before[index]).length);
    }
    for (const client of clients) client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(Math.max(...readInTurn)).toBe(1);
  });
});

const KIB = 1024;

/** A request without a connection, and the pieces of its body as they are handed over. */
function newRequest() {
  const JoiningRequest = joiningRequest(express());
  const request = new JoiningRequest(new Socket());
  const handedOver: Buffer[] = [];
  request.on('data', (piece: Buffer) => handedOver.push(piece));
  return { request, handedOver };
}

describe('the pieces of a body', () => {
  const some = (size: number, letter = 'x') => Buffer.from(letter.repeat(size));

  it('are handed over at the end of the turn in which they came, as one', async () => {
    const { request, handedOver } = newRequest();
    for (const text of ['one ', 'and ', 'two']) request.push(Buffer.from(text));
    expect(handedOver).toEqual([]);
    await turn();
    expect(handedOver.map(String)).toEqual(['one and two']);
    request.push(Buffer.from('later'));
    await turn();
    expect(handedOver.map(String)).toEqual(['one and two', 'later']);
  });

  it('are copied to the byte up to 16 KiB together', async () => {
    const { request, handedOver } = newRequest();
    const quarters = ['a', 'b', 'c', 'd'].map((letter) => some(4 * KIB - 1, letter));
    for (const piece of [...quarters, some(4, 'e'), some(1, 'f')]) request.push(piece);
    await turn();
    expect(handedOver.map((piece) => piece.length)).toEqual([16 * KIB, 1]);
    expect(handedOver[0]?.equals(Buffer.concat([...quarters, some(4, 'e')]))).toBe(true);
    expect(handedOver[1]?.toString()).toBe('f');
  });

  it('stay as they are when later ones come', async () => {
    const { request, handedOver } = newRequest();
    for (const letter of ['a', 'b']) {
      for (let n = 0; n < 3; n += 1) request.push(some(1, letter));
      await turn();
    }
    expect(handedOver.map(String)).toEqual(['aaa', 'bbb']);
  });

  it('slow their sender from the 1024th within one turn', async () => {
    const { request } = newRequest();
    const goesOn = Array.from({ length: 1024 }, () => request.push(some(1)));
    expect(goesOn.indexOf(false)).toBe(1023);
    await turn();
    expect(request.push(some(1))).toBe(true);
  });

  it.each([0, 4 * KIB])(
    'slow their sender once as much waits as a request may hold, %d of it handed over',
    (before) => {
      const { request } = newRequest();
      request.pause();
      if (before > 0) request.push(some(before));
      const most = request.readableHighWaterMark;
      for (let sent = before; sent + KIB < most; sent += KIB) expect(request.push(some(KIB))).toBe(true);
      expect(request.push(some(KIB))).toBe(false);
    },
  );

  it('come before the end of the body', async () => {
    const { request, handedOver } = newRequest();
    let ended = '';
    request.on('end', () => {
      ended = handedOver.join();
    });
    request.push(Buffer.from('last'));
    request.push(null);
    await turn();
    await turn();
    expect(ended).toBe('last');
  });

  it('are dropped when the connection has closed', async () => {
    const { request, handedOver } = newRequest();
    const errors: unknown[] = [];
    request.on('error', (error) => errors.push(error));
    request.push(Buffer.from('too late'));
    request.destroy();
    await turn();
    expect({ handedOver, errors, kept: request.readableLength }).toEqual({
      handedOver: [],
      errors: [],
      kept: 0,
    });
  });
});

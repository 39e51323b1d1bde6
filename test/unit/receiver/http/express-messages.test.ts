import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import express from 'express';
import fc from 'fast-check';
import { expressMessages } from '../../../../src/receiver/http/express-messages.js';
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
  const server = createServer(expressMessages(app), app);
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

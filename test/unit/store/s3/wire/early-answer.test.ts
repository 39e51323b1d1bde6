import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ObjectStore } from '../../../../../src/store/object-store.js';
import { openStore } from '../../../../../src/store/open-store.js';

/** More than the kernel takes at once, so that most of it waits in the process when the answer comes. */
const BODY_BYTES = 16 * 1024 * 1024;
const HEADERS = { contentType: 'application/octet-stream', metadata: {} };

const answer = (status: string, headers = '') =>
  `HTTP/1.1 ${status}\r\nx-amz-request-id: tx1\r\n${headers}content-length: 0\r\n\r\n`;

describe('an answer that comes before the body was sent', () => {
  const connections: Socket[] = [];
  let reply: (head: string) => string;
  const server = createServer((socket) => {
    connections.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', (chunk) => {
      socket.pause();
      socket.write(reply(chunk.toString('latin1')));
    });
  });
  let store: ObjectStore;

  beforeEach(async () => {
    connections.length = 0;
    reply = () => answer('503 Slow Down');
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    store = await openStore({
      url: 's3://bucket/prefix',
      s3: {
        endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        region: 'us-east-1',
        forcePathStyle: true,
        accessKeyId: 'AKIATEST',
        secretAccessKey: 'very-secret-key',
        retries: 0,
      },
    });
  });

  afterEach(async () => {
    await store.close();
    for (const socket of connections) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });

  it('ends the sending: the buffer is not read after the call has settled', async () => {
    const body = Buffer.alloc(BODY_BYTES, 'a');
    await expect(store.create('jobs/one/data', body, HEADERS)).rejects.toThrow('503');
    // What the next delivery does with a buffer that was given back.
    body.fill('b');
    const [connection] = connections;
    if (connection === undefined) throw new Error('nothing was sent');
    const received = { a: 0, b: 0 };
    connection.on('data', (chunk) => {
      if (chunk.includes('b')) received.b += chunk.length;
      else received.a += chunk.length;
      if (received.a + received.b >= BODY_BYTES) connection.destroy();
    });
    connection.resume();
    await once(connection, 'close');
    expect(received.b).toBe(0);
    expect(received.a).toBeLessThan(BODY_BYTES);
  });

  it('is not believed when it reports success', async () => {
    reply = () => answer('200 OK', 'etag: "1"\r\n');
    await expect(store.create('jobs/one/data', Buffer.alloc(BODY_BYTES), HEADERS)).rejects.toMatchObject({
      cause: { code: 'NotAnswerOfS3', status: null, detail: 'success before the body was sent' },
    });
  });

  it('costs only its own connection', async () => {
    await expect(store.create('jobs/one/data', Buffer.alloc(BODY_BYTES), HEADERS)).rejects.toThrow('503');
    reply = () => answer('200 OK', 'etag: "1"\r\n');
    expect(await store.create('jobs/two/data', Buffer.from('small'), HEADERS)).toBe('created');
    expect(connections).toHaveLength(2);
  });

  it('is not read to its end when it has none', async () => {
    reply = () => `HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\n\r\n${'x'.repeat(100_000)}`;
    await expect(store.create('jobs/one/data', Buffer.from('small'), HEADERS)).rejects.toMatchObject({
      cause: { code: 'NotAnswerOfS3', status: null },
    });
  });
});

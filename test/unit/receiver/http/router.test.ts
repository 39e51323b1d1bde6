import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Problem } from '../../../../src/domain/problem.js';
import { createBodyReader } from '../../../../src/receiver/http/body-reader.js';
import { createPublicServer } from '../../../../src/receiver/http/public-server.js';
import { createPublicApp, mountCallbacks, mountFallbacks } from '../../../../src/receiver/http/router.js';
import { type RawClient, rawClient } from '../../../support/http/raw-http.js';
import { until } from '../../../support/until.js';

/* How long the connection of a refused sender stays open: briefly, unless a callback was accepted over it. */

let server: Server;
let client: RawClient;
let later: (() => void)[];
const bodyReader = createBodyReader();

beforeEach(async () => {
  later = [];
  const app = createPublicApp();
  const answering = {
    drain: { bytes: 1000, ms: 100 },
    isDraining: () => false,
    onUnexpected: (error: unknown) => {
      throw error;
    },
    refusedKeepAlive: 50,
  };
  mountCallbacks(app, {
    ...answering,
    bodyReader,
    bodyLimits: { idleTimeout: 1000, minBytesPerSecond: 0, minRateGrace: 1000, totalTimeout: 60_000 },
    receiver: {
      async receive({ sourceName }) {
        if (sourceName === 'slow') await new Promise<void>((resolve) => later.push(resolve));
        if (sourceName === 'guarded') throw new Problem('credential-invalid', 'no');
        return { deliveryId: '01', jobId: 'j', status: 'success', outcome: 'noted', items: [] };
      },
    },
  });
  mountFallbacks(app, answering);
  server = createPublicServer(app, {
    keepAliveTimeout: 600_000,
    headersTimeout: 60_000,
    maxHeaderBytes: 16_384,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = await rawClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterEach(async () => {
  client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  bodyReader.stop();
});

const request = (path: string, method = 'POST') =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`;

describe('the connection of a refused sender', () => {
  it.each([
    ['a wrong credential', request('/callbacks/guarded'), 401],
    ['an unknown path', request('/favicon.ico', 'GET'), 404],
    ['another method', request('/callbacks/intake', 'GET'), 405],
  ])('closes soon without another request: %s', async (_, text, status) => {
    await client.send(text);
    const answer = await client.answer();
    expect(answer).toMatchObject({ status, headers: { connection: 'keep-alive' } });
    expect(answer.headers['keep-alive']).toBeUndefined();
    await until(() => client.socket.destroyed);
  });

  it('accepts another request meanwhile, and a slow response', async () => {
    await client.send(request('/callbacks/guarded') + request('/callbacks/slow'));
    expect((await client.answer()).status).toBe(401);
    await until(() => later.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    later[0]?.();
    expect((await client.answer()).status).toBe(200);
  });

  it("stays open when a callback was accepted over it: it is a balancer's", async () => {
    for (const [path, status] of [
      ['/callbacks/intake', 200],
      ['/callbacks/guarded', 401],
    ] as const) {
      await client.send(request(path));
      expect((await client.answer()).status).toBe(status);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
    await client.send(request('/callbacks/intake'));
    expect((await client.answer()).status).toBe(200);
  });
});

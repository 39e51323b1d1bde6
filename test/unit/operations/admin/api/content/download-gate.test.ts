import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Problem } from '../../../../../../src/domain/problem.js';
import {
  createDownloadGate,
  type DownloadLimits,
} from '../../../../../../src/operations/admin/api/content/download-gate.js';
import { until } from '../../../../../support/until.js';

/** Endless, so that a client decides when it ends. */
function endless(): Readable {
  return new Readable({
    read() {
      this.push(Buffer.alloc(64 * 1024));
    },
  });
}

describe('the download gate', () => {
  let server: http.Server;
  let asked: number;
  let begun: number;
  let ended: number;
  let refused: Problem[];
  let asking: Socket[];

  beforeEach(() => {
    asked = 0;
    begun = 0;
    ended = 0;
    refused = [];
    asking = [];
  });
  afterEach(async () => {
    for (const each of asking) each.destroy();
    server.closeAllConnections();
    server.close();
  });

  async function serve(limits: DownloadLimits): Promise<void> {
    const gate = createDownloadGate(limits);
    server = http.createServer((_request, response) => {
      asked += 1;
      gate(response, async () => {
        begun += 1;
        await pipeline(endless(), response).catch(() => response.destroy());
        ended += 1;
      }).catch((problem: Problem) => {
        refused.push(problem);
        if (!response.destroyed) response.writeHead(problem.status).end();
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  }

  /** A client that reads nothing unless the test does. */
  function ask(): Socket {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    asking.push(socket);
    return socket;
  }

  it('rejects one that timed out while waiting, with the reason', async () => {
    await serve({ maxDownloads: 1, downloadIdleTimeout: 60_000, downloadWait: 20 });
    ask();
    await until(() => begun === 1);
    expect(await text(ask())).toMatch(/^HTTP\/1.1 503 /);
    expect(refused[0]?.message).toMatch(/^1 downloads are in flight/);
    expect(begun).toBe(1);
  });

  it('forgets one whose client disconnects while waiting', async () => {
    await serve({ maxDownloads: 1, downloadIdleTimeout: 60_000, downloadWait: 60_000 });
    const first = ask();
    await until(() => begun === 1);
    const leaving = ask();
    await until(() => asked === 2);
    leaving.destroy();
    await until(() => refused.length === 1);
    first.destroy();
    await until(() => ended === 1);
    ask();
    await until(() => begun === 2);
  });

  it('disconnects a download whose client reads nothing, and frees its slot', async () => {
    await serve({ maxDownloads: 1, downloadIdleTimeout: 100, downloadWait: 60_000 });
    ask();
    await until(() => begun === 1);
    ask();
    await until(() => begun === 2);
    expect(ended).toBeGreaterThanOrEqual(1);
  });
});

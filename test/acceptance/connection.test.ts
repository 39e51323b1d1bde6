import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type RawAnswer, type RawClient, rawClient } from '../support/http/raw-http.js';
import { ledgerOf, visibleKeys } from '../support/ledger/ledger-of.js';
import { type RunningService, type Settings, startService } from '../support/processes/running-service.js';
import { until } from '../support/until.js';

describe('a bare connection', () => {
  /* What only shows on a bare connection: when the body is read, and what becomes of one that does not come whole. */

  const TOKEN = 'correct-horse-battery-staple';
  const GUARDED = { credentials: { main: { headers: [`X-Callback-Token: ${TOKEN}`] } } };

  let service: RunningService;
  const clients: RawClient[] = [];

  beforeAll(async () => {
    service = await startService({ sources: { default: { maxBytes: '1MiB' }, guarded: GUARDED } });
  });

  afterAll(async () => {
    for (const client of clients) client.close();
    await service.stop();
  });

  async function withService(
    settings: Settings,
    limits: Parameters<typeof startService>[1],
    test: (impatient: RunningService) => Promise<void>,
  ): Promise<void> {
    const impatient = await startService({ sources: { default: {}, guarded: GUARDED }, ...settings }, limits);
    try {
      await test(impatient);
    } finally {
      await impatient.stop();
    }
  }

  async function open(publicUrl = service.publicUrl): Promise<RawClient> {
    const client = await rawClient(publicUrl);
    clients.push(client);
    return client;
  }

  function head(path: string, ...lines: string[]): string {
    return [`POST ${path} HTTP/1.1`, 'Host: receiver', ...lines, '', ''].join('\r\n');
  }

  const CALLBACK = '/callbacks/default?id=c1&status=success';

  describe('before the first body byte', () => {
    it('responds 100 Continue only after every check, then accepts the body', async () => {
      const client = await open();
      await client.send(
        head(CALLBACK, 'Content-Length: 2', 'Content-Type: application/json', 'Expect: 100-continue'),
      );
      expect((await client.answer()).status).toBe(100);
      await client.send('{}');
      expect((await client.answer()).status).toBe(200);
    });

    it.each([
      ['a wrong credential', '/callbacks/guarded?id=c1&status=success', 10, 401],
      ['a bad query', '/callbacks/default?status=success', 10, 400],
      ['an unknown source', '/callbacks/nobody?id=c1&status=success', 10, 404],
      ['a declared size over the limit', CALLBACK, 2 ** 40, 413],
    ])('refuses %s without a 100 and closes', async (_, path, length, status) => {
      const client = await open();
      await client.send(head(path, `Content-Length: ${length}`, 'Expect: 100-continue'));
      const answer = await client.answer();
      expect(answer.status).toBe(status);
      expect(answer.headers.connection).toBe('close');
    });
  });

  /* On a busy machine a sender may be slow itself: only these tests have a service whose times are short. */

  describe('a slow sender', () => {
    it('gets 408 when it stalls', () =>
      withService({ limits: { idleTimeout: '300ms' } }, {}, async ({ publicUrl, folder }) => {
        const client = await open(publicUrl);
        await client.send(`${head('/callbacks/default?id=slow1&status=success', 'Content-Length: 100')}abc`);
        const answer = await client.answer();
        expect(answer.status).toBe(408);
        expect(JSON.parse(answer.body).code).toBe('body-too-slow');
        expect(await visibleKeys(folder, 'jobs/slow1')).toEqual([]);
      }));

    it('gets 408 below the minimum rate', () =>
      withService(
        { limits: { minBytesPerSecond: 10_000 } },
        { minRateGrace: 1_000 },
        async ({ publicUrl }) => {
          const client = await open(publicUrl);
          await client.send(head('/callbacks/default?id=slow2&status=success', 'Content-Length: 100000'));
          const drip = setInterval(() => client.send('x'), 50);
          const answer = await client.answer().finally(() => clearInterval(drip));
          expect(answer.status).toBe(408);
          expect(JSON.parse(answer.body).detail).toContain('10000 bytes per second');
        },
      ));
  });

  describe('a body that does not arrive whole', () => {
    it.each([
      ['sized', 'Content-Length: 100000', 'x'.repeat(70_000)],
      ['chunked', 'Transfer-Encoding: chunked', `11170\r\n${'x'.repeat(70_000)}\r\n`],
      ['with broken chunk framing', 'Transfer-Encoding: chunked', `5\r\nhello\r\nZZ\r\n`],
    ])('leaves nothing but a ledger line, %s', async (name, framing, part) => {
      const id = `cut-${name.replaceAll(' ', '-')}`;
      const client = await open();
      await client.send(head(`/callbacks/default?id=${id}&status=success`, framing));
      await client.send(part);
      client.socket.end();
      await until(async () => (await ledgerOf(service.folder)).some((line) => line.jobId === id));
      const [line] = (await ledgerOf(service.folder)).filter(({ jobId }) => jobId === id);
      expect(line).toMatchObject({ outcome: 'refused', reason: 'body-incomplete', items: [] });
      expect(await visibleKeys(service.folder, `jobs/${id}`)).toEqual([]);
      const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
      expect(metrics).toMatch(/refusals_total\{reason="body-incomplete",source="default",[^}]*\} [1-9]/);
    });
  });

  describe('an unknown expectation', () => {
    it.each([
      ['/callbacks/guarded?id=c1&status=success', 401],
      ['/callbacks/default?id=expected&status=success', 200],
    ])('changes nothing: %s', async (path, status) => {
      const client = await open();
      await client.send(`${head(path, 'Content-Length: 5', 'Expect: a-miracle')}hello`);
      expect((await client.answer()).status).toBe(status);
    });
  });

  describe('a sender that disconnects before it is checked', () => {
    it('is not recorded as a refusal of its address', async () => {
      for (let n = 0; n < 30; n++) {
        const client = await open();
        client.socket.write(`${head('/callbacks/default?id=gone&status=success', 'Content-Length: 9')}hello`);
        client.socket.resetAndDestroy();
      }
      const client = await open();
      await client.send(head('/callbacks/guarded?id=c1&status=success', 'Content-Length: 0'));
      expect((await client.answer()).status).toBe(401);
      const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
      expect(metrics).toMatch(/refusals_total\{reason="credential-invalid",[^}]*\} [1-9]/);
      expect(metrics).not.toMatch(/refusals_total\{reason="address-unreadable",[^}]*\} [1-9]/);
    });
  });

  describe('a sender that half-closes its connection after the request', () => {
    it('gets its response', async () => {
      const client = await open();
      await client.send(`${head('/callbacks/default?id=half1&status=success', 'Content-Length: 5')}hello`);
      client.socket.end();
      const answer = await client.answer();
      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.body).outcome).toBe('stored');
      await until(() => client.socket.destroyed);
    });

    it('is answered for every request it pipelined', async () => {
      const client = await open();
      const path = (n: number) => `/callbacks/default?id=half2-${n}&status=success`;
      await client.send([1, 2].map((n) => `${head(path(n), 'Content-Length: 5')}hello`).join(''));
      client.socket.end();
      for (const id of ['half2-1', 'half2-2']) {
        expect(JSON.parse((await client.answer()).body).jobId).toBe(id);
      }
    });
  });

  describe('a body with several codings', () => {
    it.each([['Content-Encoding: identity', 'Content-Encoding: gzip'], ['Transfer-Encoding: gzip, chunked']])(
      'is stored as it was before: %s',
      async (...lines) => {
        const data = 'as it was before';
        const body = gzipSync(data);
        const isChunked = lines.some((line) => line.endsWith('chunked'));
        const framing = isChunked ? [] : [`Content-Length: ${body.length}`];
        const client = await open();
        await client.send(
          head(`/callbacks/default?id=encoded${lines.length}&status=success`, ...lines, ...framing),
        );
        await client.send(
          isChunked
            ? Buffer.concat([
                Buffer.from(`${body.length.toString(16)}\r\n`),
                body,
                Buffer.from('\r\n0\r\n\r\n'),
              ])
            : body,
        );
        expect((await client.answer()).status).toBe(200);
        expect(await readFile(join(service.folder, `jobs/encoded${lines.length}/data`), 'utf8')).toBe(data);
      },
    );
  });

  describe('too many deliveries at once', () => {
    let full: RunningService;

    beforeAll(async () => {
      full = await startService({ limits: { maxConcurrentDeliveries: 3 } });
    });
    afterAll(() => full.stop());

    it('get 503 with Retry-After before their body is read', async () => {
      const clients = await Promise.all(Array.from({ length: 30 }, () => open(full.publicUrl)));
      // Three hold a slot and wait for their body, nine wait for a slot.
      const refused: RawAnswer[] = [];
      for (const client of clients) {
        await client.send(head(CALLBACK, 'Content-Length: 3', 'Expect: 100-continue'));
        client.answer().then(
          (answer) => answer.status !== 100 && refused.push(answer),
          () => undefined,
        );
      }
      await until(() => refused.length > 0);
      for (const { status, headers, body } of refused) {
        expect(status).toBe(503);
        expect(headers['retry-after']).toMatch(/^\d+$/);
        expect(JSON.parse(body).code).toBe('overloaded');
      }
      for (const client of clients) client.close();
    });
  });
});

describe('a hostile request head', () => {
  /* Hostile request heads, on both ports. */

  const TOKEN = 'correct-horse-battery-staple';

  let service: RunningService;
  const clients: RawClient[] = [];

  beforeAll(async () => {
    service = await startService({
      admin: { hosts: ['metrics.example.com'] },
      sources: {
        default: {},
        guarded: { credentials: { main: { headers: [`X-Callback-Token: ${TOKEN}`] } } },
      },
    });
  });

  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });

  afterAll(() => service.stop());

  async function open(url: string): Promise<RawClient> {
    const client = await rawClient(url);
    clients.push(client);
    return client;
  }

  describe('a header called __proto__', () => {
    it.each([
      ['a callback', () => service.publicUrl, 'POST /callbacks/default?id=proto&status=success', 200],
      ['an unknown path', () => service.publicUrl, 'GET /nowhere', 404],
      ['the admin API', () => service.adminUrl, 'GET /admin/api/health', 401],
    ])('is a header like any other: %s', async (_, url, line, status) => {
      const client = await open(url());
      const head = `${line} HTTP/1.1\r\nHost: receiver\r\n__proto__: x\r\n__proto__: y\r\n`;
      await client.send(`${head}Content-Length: 0\r\n\r\n`);
      expect((await client.answer()).status).toBe(status);
    });
  });

  describe('a balancer that speaks another protocol', () => {
    it.each([
      [
        'proxy-protocol',
        Buffer.from('PROXY TCP4 203.0.113.7 10.0.0.1 51234 8080\r\n'),
        /PROXY protocol.*haproxy/,
      ],
      [
        'proxy-protocol',
        Buffer.from('0d0a0d0a000d0a515549540a2111000ccb0071070a000001c8221f90', 'hex'),
        /PROXY protocol.*haproxy/,
      ],
      ['tls', Buffer.from('16030102000100', 'hex'), /TLS.*plain HTTP/],
      ['http2', Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), /HTTP\/2.*HTTP\/1\.1/],
    ])('is answered 400, and the log says what to do: %s', async (reason, header, detail) => {
      const before = service.log.length;
      const client = await open(service.publicUrl);
      const request =
        'POST /callbacks/default?id=p&status=success HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n';
      await client.send(Buffer.concat([header, Buffer.from(request)]));
      expect(await client.answer()).toMatchObject({
        status: 400,
        body: expect.stringMatching(detail),
      });
      expect(service.log.slice(before).filter(({ event }) => event === 'refused')).toEqual([
        expect.objectContaining({
          event: 'refused',
          reason,
          clientIp: '127.0.0.1',
          detail: expect.stringMatching(detail),
        }),
      ]);
    });
  });

  describe('a source without a credential', () => {
    it.each([
      ['Forwarded: for=127.0.0.1'],
      ['X-Forwarded-For: 127.0.0.1'],
      ['x-forwarded-proto: https'],
      ['Via: 1.1 tunnel'],
      ['X-Real-IP: 127.0.0.1'],
      ['True-Client-IP: 127.0.0.1'],
      ['CF-Connecting-IP: 127.0.0.1'],
      ['CF-Connecting-IPv6: ::1'],
      ['Fastly-Client-IP: 127.0.0.1'],
      ['X-Cluster-Client-IP: 127.0.0.1'],
      ['X-Azure-ClientIP: 127.0.0.1'],
      ['X-Azure-SocketIP: 127.0.0.1'],
      ['X-Appengine-User-IP: 127.0.0.1'],
      ['X-Remote-Addr: 127.0.0.1'],
      ['X-Envoy-External-Address: 127.0.0.1'],
      ['X-Original-Forwarded-For: 127.0.0.1'],
      ['X-Amzn-Trace-Id: Root=1-2-3'],
      ['CDN-Loop: cdn'],
      ['Origin: http://evil.example.com'],
      ['Origin: null'],
      ['Sec-Fetch-Site: cross-site'],
      ['Sec-Fetch-Mode: navigate'],
      ['Sec-Fetch-Dest: empty'],
    ])('rejects forwarded requests and those of web pages: %s', async (line) => {
      const client = await open(service.publicUrl);
      await client.send(
        `POST /callbacks/default?id=page&status=success HTTP/1.1\r\nHost: a\r\n${line}\r\nContent-Length: 2\r\n\r\n{}`,
      );
      const answer = await client.answer();
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.body).code).toBe('not-direct');
      expect(await visibleKeys(service.folder, 'jobs/page')).toEqual([]);
    });

    it("accepts what Node's fetch sends", async () => {
      const answer = await fetch(`${service.publicUrl}/callbacks/default?id=fetch1&status=success`, {
        method: 'POST',
        body: 'x',
      });
      expect(answer.status).toBe(200);
    });

    it('does not keep others from being behind a proxy', async () => {
      const answer = await fetch(`${service.publicUrl}/callbacks/guarded?id=behind&status=success`, {
        method: 'POST',
        headers: { 'x-callback-token': TOKEN, 'x-forwarded-for': '192.0.2.1', via: '1.1 proxy' },
        body: 'x',
      });
      expect(answer.status).toBe(200);
    });
  });

  describe('/metrics', () => {
    it.each([
      ['evil.example.com', 403],
      ['metrics.example.com:8081', 200],
    ])('asked for under the name %s: %d', async (host, status) => {
      const client = await open(service.adminUrl);
      client.socket.write(`GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      const [chunk] = (await once(client.socket, 'data')) as [Buffer];
      expect(chunk.toString()).toContain(`HTTP/1.1 ${status} `);
    });
  });

  describe('a request without a Host', () => {
    it.each([
      ['POST /callbacks/default?id=hostless&status=success', 'Content-Length: 2\r\n', '{}'],
      ['GET /healthz', '', ''],
      [
        'POST /callbacks/default?id=hostless&status=success',
        'Content-Length: 2\r\nExpect: 100-continue\r\n',
        '',
      ],
    ])('gets a problem document, and the connection ends: %s %s', async (line, headers, body) => {
      const client = await open(service.publicUrl);
      await client.send(`${line} HTTP/1.1\r\n${headers}\r\n${body}`);
      const answer = await client.answer();
      expect(answer).toMatchObject({
        status: 400,
        headers: { 'content-type': 'application/problem+json', connection: 'close' },
      });
      expect(JSON.parse(answer.body).code).toBe('request-malformed');
      await until(() => client.socket.readableEnded);
    });

    it('is fine in HTTP/1.0', async () => {
      const client = await open(service.publicUrl);
      await client.send(
        'POST /callbacks/default?id=old1&status=success HTTP/1.0\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello',
      );
      expect(JSON.parse((await client.answer()).body)).toMatchObject({ outcome: 'stored' });
    });
  });

  describe('a head that Node accepts and HTTP/1.1 does not', () => {
    const PORTS = [
      ['the public port', () => service.publicUrl],
      ['the admin port', () => service.adminUrl],
    ] as const;
    const HEADS = [
      ['two Hosts', 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n'],
      ['a fragment', 'GET /healthz#x HTTP/1.1\r\nHost: a\r\n\r\n'],
      ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ] as const;

    const SIZED = 'POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n';
    const LARGE = `GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(64 * 1024)}\r\n\r\n`;
    const COUNTED = [
      ...HEADS.map(([what, head]) => [what, head, 400, 'request-malformed'] as const),
      ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'request-malformed'],
      ['two lengths', `${SIZED}Content-Length: 2\r\n\r\n`, 400, 'request-malformed'],
      ['a length and chunks', `${SIZED}Transfer-Encoding: chunked\r\n\r\n`, 400, 'request-malformed'],
      ['no HTTP', '\u0016\u0003\u0001\u0002\r\n\r\n', 400, 'request-malformed'],
      ['headers of 64 KiB', LARGE, 431, 'head-too-large'],
    ] as const;

    it.each(
      PORTS.flatMap(([port, url]) => COUNTED.map(([what, ...rest]) => [port, what, url, ...rest] as const)),
    )('%s counts %s', async (_, __, url, head, status, reason) => {
      const counted = await refusals(reason);
      const client = await open(url());
      await client.send(head);
      const answer = await client.answer();
      expect([answer.status, JSON.parse(answer.body).code]).toEqual([status, reason]);
      await until(() => client.socket.destroyed);
      expect(await refusals(reason)).toBe(counted + 1);
    });

    it('is logged with its port', async () => {
      const own = await startService();
      try {
        for (const url of [own.publicUrl, own.adminUrl]) {
          const client = await open(url);
          await client.send(LARGE);
          await client.answer();
        }
        expect(own.log.filter(({ event }) => event === 'refused')).toMatchObject([
          { reason: 'head-too-large', port: 'public', clientIp: '127.0.0.1' },
          { reason: 'head-too-large', port: 'admin', clientIp: '127.0.0.1' },
        ]);
      } finally {
        await own.stop();
      }
    });
  });

  async function refusals(reason: string): Promise<number> {
    const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
    const lines = new RegExp(`^transcript_receiver_refusals_total\\{reason="${reason}",.*\\} (\\d+)$`, 'gm');
    return [...metrics.matchAll(lines)].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  describe('an HTTP/1.0 request without Content-Length', () => {
    it.each([
      ['with a body', 'hello'],
      ['that may have none', ''],
    ])('is rejected and recorded, not treated as one without a body: %s', async (_, body) => {
      const id = `undelimited${body.length}`;
      const client = await open(service.publicUrl);
      await client.send(`POST /callbacks/default?id=${id}&status=success HTTP/1.0\r\n\r\n${body}`);
      const answer = await client.answer();
      expect({ status: answer.status, code: JSON.parse(answer.body).code }).toEqual({
        status: 400,
        code: 'request-malformed',
      });
      const lines = (await ledgerOf(service.folder)).filter(({ jobId }) => jobId === id);
      expect(lines).toMatchObject([{ outcome: 'refused', reason: 'request-malformed' }]);
    });
  });

  describe('a request that asks for an upgrade', () => {
    it('is processed without the upgrade, and closes the connection, because later bytes are lost', async () => {
      const client = await open(service.publicUrl);
      const one = (id: string, upgrade: string) =>
        `POST /callbacks/default?id=${id}&status=success HTTP/1.1\r\nHost: a\r\n${upgrade}Content-Length: 5\r\n\r\nhello`;
      await client.send(one('up1', 'Connection: upgrade\r\nUpgrade: websocket\r\n') + one('up2', ''));
      const answer = await client.answer();
      expect({ status: answer.status, connection: answer.headers.connection }).toEqual({
        status: 200,
        connection: 'close',
      });
      await until(() => client.socket.destroyed);
    });
  });

  describe('headers that never end', () => {
    let impatient: RunningService;
    // Outside the time of the test, because a busy machine takes long to start one.
    beforeAll(async () => {
      impatient = await startService({}, { headersTimeout: 1_000 });
    });
    afterAll(() => impatient.stop());

    it('time out after their time-out, not at the next periodic check', async () => {
      // Node by itself looks every 30 s.
      const usual = createServer({ headersTimeout: 1_000 }).listen(0, '127.0.0.1');
      await once(usual, 'listening');
      const usualUrl = `http://127.0.0.1:${(usual.address() as AddressInfo).port}`;
      const clients = await Promise.all([usualUrl, impatient.publicUrl, impatient.adminUrl].map(open));
      for (const client of clients) await client.send('POST /callbacks/default HTTP/1.1\r\nHost: a\r\nX-');
      const [late, ...ours] = clients;
      await until(() => ours.every(({ socket }) => socket.destroyed));
      expect(late?.socket.destroyed).toBe(false);
      late?.close();
      usual.close();
    });
  });
});

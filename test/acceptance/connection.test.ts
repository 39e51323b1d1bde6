import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RawAnswer, type RawClient, rawClient } from '../support/http/raw-http.js';
import { ledgerOf, visibleKeys } from '../support/ledger/ledger-of.js';
import { type RunningService, type Settings, startService } from '../support/processes/running-service.js';
import { until } from '../support/until.js';

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
    withService({ limits: { minBytesPerSecond: 10_000 } }, { minRateGrace: 1_000 }, async ({ publicUrl }) => {
      const client = await open(publicUrl);
      await client.send(head('/callbacks/default?id=slow2&status=success', 'Content-Length: 100000'));
      const drip = setInterval(() => client.send('x'), 50);
      const answer = await client.answer().finally(() => clearInterval(drip));
      expect(answer.status).toBe(408);
      expect(JSON.parse(answer.body).detail).toContain('10000 bytes per second');
    }));
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

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type RawAnswer, type RawClient, rawClient } from '../support/http/raw-http.js';
import { startTlsProxy, type TlsProxy } from '../support/http/tls-proxy.js';
import { type RunningService, startService } from '../support/processes/running-service.js';
import { until } from '../support/until.js';

/* Slow senders never keep a transcript out, however many they are, even if each of them obeys every limit. */

const TOKEN = 'correct-horse-battery-staple';
const CREDENTIAL = `X-Callback-Token: ${TOKEN}`;
const LARGE = 64 * 1024 * 1024;

let service: RunningService;
let proxy: TlsProxy | null = null;
let slow: RawClient[] = [];
let isOver = false;

async function start(limits: Record<string, unknown>, overTls = false): Promise<void> {
  service = await startService({
    sources: { default: { credentials: { main: { headers: [CREDENTIAL] } } } },
    store: { partSize: '8MiB' },
    limits: { memoryBudget: '64MiB', quarantineBytes: '8MiB', ...limits },
  });
  proxy = overTls ? await startTlsProxy(service.publicUrl) : null;
}

beforeEach(() => {
  isOver = false;
  slow = [];
});

afterEach(async () => {
  isOver = true;
  for (const client of slow) client.close();
  await proxy?.close();
  await service.stop();
});

async function open(): Promise<RawClient> {
  return rawClient(service.publicUrl, await proxy?.open());
}

function head(jobId: string, length: number): string {
  const lines = ['Host: receiver', CREDENTIAL, `Content-Length: ${length}`, 'Content-Type: application/json'];
  return [`POST /callbacks/default?id=${jobId}&status=success HTTP/1.1`, ...lines, '', ''].join('\r\n');
}

async function beginSlow(jobId: string, length: number, first: number): Promise<RawClient> {
  const client = await open();
  slow.push(client);
  await client.send(head(jobId, length));
  // Valid so far, so that it is kept.
  await client.send(`{"text":"${'x'.repeat(first - 9)}`);
  return client;
}

/** Bytes per second; the default is above `limits.minBytesPerSecond`. */
interface Upload {
  readonly length?: number;
  readonly rate?: number;
}

/** Sends again when it is refused. */
async function uploadSlowly(jobId: string, { length = LARGE, rate = 2_000 }: Upload): Promise<void> {
  const step = rate / 5;
  const client = await beginSlow(jobId, length, step);
  const sending = (async () => {
    for (let sent = step; sent < length - step && !client.socket.destroyed; sent += step) {
      await sleep(200);
      if (isOver) return;
      await client.send(Buffer.alloc(step, 'x'));
    }
    await uploadSlowly(jobId, { length, rate });
  })();
  sending.catch(() => undefined);
}

async function uploads(count: number, upload: Upload = {}): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, n) => uploadSlowly(`upload${n}`, upload)));
}

async function stopHalfWay(count: number, length: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, n) => beginSlow(`half${n}`, length, length / 2)));
}

const transcriptOf = (n: number): string => JSON.stringify({ n, text: 'word '.repeat(10_000) });

interface Delivered {
  readonly status: number;
  /** Key of the item in the store. */
  readonly key: string | null;
}

async function sendTranscript(n: number): Promise<Delivered> {
  const client = await open();
  const body = transcriptOf(n);
  await client.send(head(`transcript${n}`, body.length) + body);
  const answer = await client.answer();
  client.close();
  return { status: answer.status, key: JSON.parse(answer.body).items?.[0]?.key ?? null };
}

/** Sends transcripts, a few at once, and expects each to be acknowledged and stored. */
async function expectTranscripts(): Promise<void> {
  const sending: Promise<Delivered>[] = [];
  for (let n = 0; n < 20; n += 1) {
    sending.push(sendTranscript(n));
    if (n % 5 === 4) await sleep(200);
  }
  const delivered = await Promise.all(sending);
  expect(delivered.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  for (const [n, { key }] of delivered.entries()) {
    expect(await readFile(join(service.folder, String(key)), 'utf8')).toBe(transcriptOf(n));
  }
}

/** Grows as they arrive. */
function answersOfSlow(): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (const client of slow)
    void client
      .answer()
      .then((answer) => answers.push(answer))
      .catch(() => {});
  return answers;
}

async function gauge(name: string): Promise<number> {
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
  return Number(new RegExp(`^transcript_receiver_${name} (\\d+)`, 'm').exec(metrics)?.[1] ?? Number.NaN);
}

describe('beside senders that hold every slot', () => {
  const limits = { maxConcurrentDeliveries: 16 };

  it.each([
    ['uploads at 2 KB/s', () => uploads(20)],
    ['more uploads at 2 KB/s than may wait', () => uploads(150)],
    ['small bodies that stop half-way', () => stopHalfWay(20, 100_000)],
    ['tiny bodies that stop half-way', () => stopHalfWay(20, 2_000)],
    ['both', () => Promise.all([uploads(16), stopHalfWay(20, 100_000)])],
  ])('every transcript is acknowledged and stored: %s', async (_name, strain) => {
    await start(limits);
    await strain();
    await expectTranscripts();
    // Refused senders get an answer that they can act on, and leave nothing behind.
    const refused = answersOfSlow();
    await until(() => refused.length > 0);
    for (const { status, headers, body } of refused) {
      expect(status).toBe(503);
      expect(headers['retry-after']).toMatch(/^\d+$/);
      expect(JSON.parse(body).code).toBe('overloaded');
    }
    isOver = true;
    for (const client of slow) client.close();
    await until(async () => (await gauge('deliveries_in_flight')) === 0);
  });
});

it('holds for the defaults: 256 slow uploads, 300 bodies that stop half-way, through a TLS proxy', async () => {
  await start({}, true);
  await Promise.all([uploads(256), stopHalfWay(300, 100_000)]);
  await expectTranscripts();
});

it.each([
  ['64MiB', 'bodies of 1 MiB that stop half-way', () => stopHalfWay(220, 1024 * 1024)],
  ['24MiB', 'small bodies at 20 KB/s', () => uploads(200, { length: 900_000, rate: 20_000 })],
  ['24MiB', 'large bodies at 2 KB/s', () => uploads(180)],
])('holds for memory, too: more than %s, by %s', async (memoryBudget, _strain, strain) => {
  await start({ memoryBudget });
  await strain();
  await until(async () => (await gauge('memory_budget_waiters')) > 0);
  await expectTranscripts();
});

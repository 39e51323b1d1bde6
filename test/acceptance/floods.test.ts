import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ReceiverProcess, startReady } from '../support/processes/receiver-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

/* Connections that send requests and never read an answer. */

const TOKEN = 'correct-horse-battery-staple';
/** What the shipped manifests set. */
const HEAP = '--max-old-space-size=192';
const SECONDS = 0.5;
/**
 * Bytes that a receiver may take beyond what it took to start: up to 31 MB were seen. Without the bounds a flood of 40 connections takes 50
 * MB and more.
 */
const MARGIN = 40 * 1024 * 1024;
const PROCESSES = 3;

const SENDER = fileURLToPath(new URL('../../bench/flood/sender.mjs', import.meta.url));

let receiver: ReceiverProcess;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
/** Peak of the receiver before any flood, in bytes. */
let before: number;

async function start(): Promise<void> {
  folder = await temporaryFolder();
  const guarded = { credentials: { main: { headers: [`X-Callback-Token: ${TOKEN}`] } } };
  receiver = await startReady(
    {
      receiver: { host: '127.0.0.1' },
      admin: { tokens: { ops: TOKEN } },
      sources: { guarded },
      store: { url: `file:${folder.path}` },
    },
    { MALLOC_ARENA_MAX: '2' },
    { nodeFlags: [HEAP] },
  );
  before = peakOf(receiver.pid);
}

async function stop(): Promise<void> {
  await receiver.destroy();
  await folder.remove();
}

const get = (path: string, line = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${line}\r\n`;
const post = (token: string) =>
  `POST /callbacks/guarded?id=flood&status=success HTTP/1.1\r\nHost: x\r\n${token}Content-Length: 2\r\n\r\n{}`;

async function flood(url: string, connections: number, text: string): Promise<void> {
  const sender = fork(SENDER);
  sender.send({ port: Number(new URL(url).port), connections, text, seconds: SECONDS });
  await once(sender, 'exit');
}

/** Bytes. */
function peakOf(pid: number): number {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

async function deliver(n: number): Promise<number> {
  const { status } = await fetch(`${receiver.publicUrl}/callbacks/guarded?id=honest${n}&status=success`, {
    method: 'POST',
    headers: { 'x-callback-token': TOKEN, connection: 'close' },
    body: '{}',
  });
  return status;
}

/**
 * Repeated with a new receiver when it took too much: how much garbage waits for its collection is a chance of one process on a busy
 * machine. A fault in the code is in all.
 */
async function expectLittleMemory(flooded: () => Promise<void>): Promise<void> {
  await flooded();
  for (let processes = 1; peakOf(receiver.pid) - before >= MARGIN && processes < PROCESSES; processes += 1) {
    await stop();
    await start();
    await flooded();
  }
  expect(peakOf(receiver.pid) - before).toBeLessThan(MARGIN);
}

beforeAll(start);
afterAll(stop);

describe('a flood of requests whose answers nobody reads', () => {
  it.each([
    ['an unknown path', 40, get('/nope')],
    ['health', 100, get('/healthz')],
    ['callbacks without a credential', 100, post('')],
    ['callbacks with a credential', 30, post(`X-Callback-Token: ${TOKEN}\r\n`)],
  ])('leaves callbacks and memory alone: %s, %d connections', (_, connections, text) =>
    expectLittleMemory(async () => {
      const flooding = flood(receiver.publicUrl, connections, text);
      expect(await Promise.all([0, 1, 2, 3].map(deliver))).toEqual([200, 200, 200, 200]);
      await flooding;
      expect(await deliver(4)).toBe(200);
    }),
  );
});

describe('a flood on the admin port whose answers nobody reads', () => {
  it.each([
    ['metrics', get('/metrics')],
    ['health, with a token', get('/admin/api/health', `Authorization: Bearer ${TOKEN}\r\n`)],
  ])('leaves callbacks and memory alone: %s', (_, text) =>
    expectLittleMemory(async () => {
      // Each connection holds eight answers: with 100, those of the metrics alone are 36 MB on a machine that is quick enough to make all.
      await flood(receiver.adminUrl, 50, text);
      expect(await deliver(0)).toBe(200);
      await until(async () => (await fetch(`${receiver.adminUrl}/metrics`)).ok);
    }),
  );
});

/**
 * What an open dashboard costs the callbacks: 10 KB callbacks at 48 connections, in turns with and without a client
 * that asks the admin API for what the overview page asks, as often as it does. Build first (npm run build).
 *
 *   node bench/open-page.mjs [--rounds 6] [--seconds 5]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { V8_FLAGS } from '../scripts/v8-flags.mjs';
import { cpuMs, pathOf, startServer, stopAll } from './lib/processes.mjs';
import { startStandIn } from './lib/stores.mjs';
import { PATH } from './lib/targets.mjs';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '6' }, seconds: { type: 'string', default: '5' } },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
/** Milliseconds between two looks of the overview page. */
const LOOK_EVERY = 5_000;
const TOKEN = 'token-of-the-benchmark';
const scratch = mkdtempSync(join(tmpdir(), 'open-page-'));

try {
  const { endpoint } = await startStandIn(scratch);
  const receiver = await startReceiver(endpoint);
  const figures = { closed: [], open: [] };
  await load(receiver, false);
  for (let round = 0; round < rounds; round++) {
    for (const isOpen of round % 2 === 0 ? [false, true] : [true, false]) {
      figures[isOpen ? 'open' : 'closed'].push(await load(receiver, isOpen));
    }
  }
  report(figures);
} finally {
  await stopAll();
  rmSync(scratch, { recursive: true, force: true });
}

function startReceiver(endpoint) {
  const s3 = {
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    accessKeyId: 'bench',
    secretAccessKey: 'bench-secret',
  };
  const settings = {
    receiver: { host: '127.0.0.1', port: 0 },
    admin: { port: 0, tokens: { bench: TOKEN } },
    sources: { default: { allowUnauthenticated: true } },
    store: { url: 's3://bucket/prefix', s3 },
  };
  return startServer({
    name: 'receiver',
    args: [...V8_FLAGS, pathOf('../dist/main.js'), 'serve'],
    env: { NODE_CONFIG: JSON.stringify(settings) },
    logFile: join(scratch, 'receiver.log'),
    isReady: (line) => line.event === 'listening',
  });
}

async function load(receiver, isOpen) {
  const generator = fork(pathOf('load/generator.mjs'));
  const looking = new AbortController();
  const page = isOpen ? look(receiver.said.adminUrl, looking.signal) : null;
  const group = {
    port: Number(new URL(receiver.said.receiverUrl).port),
    path: PATH,
    headers: { 'content-type': 'application/json' },
    idPrefix: `p${Date.now().toString(36)}`,
    connections: 48,
    body: { kind: 'transcript', bytes: 10_240 },
  };
  generator.send({ groups: [group], warmUpMs: 500, measureMs: seconds * 1000 });
  await once(generator, 'message');
  const before = cpuMs(receiver.pid);
  const [{ results }] = await once(generator, 'message');
  const cpu = cpuMs(receiver.pid) - before;
  looking.abort();
  await page;
  generator.disconnect();
  const [{ count, statuses, p50, p99 }] = results;
  if (Object.keys(statuses).join() !== '200')
    throw new Error(`callbacks were answered ${JSON.stringify(statuses)}`);
  return { perSecond: count / seconds, p50, p99, cpu: cpu / count };
}

async function look(adminUrl, signal) {
  while (!signal.aborted) {
    const day = new Date(Date.now() - 86_400_000).toISOString();
    for (const path of [
      'health',
      'deliveries?limit=50',
      `summary?since=${day}&buckets=96`,
      'failures?limit=50',
    ]) {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const response = await fetch(`${adminUrl}/admin/api/${path}`, { headers });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    }
    await sleep(LOOK_EVERY, null, { signal }).catch(() => {});
  }
}

function report({ closed, open }) {
  const median = (list, name) =>
    list.map((each) => each[name]).sort((a, b) => a - b)[Math.floor(list.length / 2)];
  console.log('| dashboard | callbacks/s | p50 ms | p99 ms | CPU ms each |\n|---|---:|---:|---:|---:|');
  for (const [name, list] of Object.entries({ closed, open })) {
    const cells = [
      median(list, 'perSecond').toFixed(0),
      median(list, 'p50').toFixed(1),
      median(list, 'p99').toFixed(1),
    ];
    console.log(`| ${name} | ${cells.join(' | ')} | ${median(list, 'cpu').toFixed(3)} |`);
  }
  const ratios = closed.map((each, n) => open[n].perSecond / each.perSecond).sort((a, b) => a - b);
  console.log(
    `\nopen / closed, callbacks/s, round by round: median ${ratios[Math.floor(ratios.length / 2)].toFixed(3)}`,
  );
}

/**
 * Steady mixed load for a long time, and what the process looks like over it: memory, heap, handles, event-loop lag.
 *
 *   npm run soak [-- --minutes 60] [--rate 200] [--out bench/results/soak]
 *
 * The receiver has the memory bounds of the image and the cluster files. Writes <out>.svg and <out>.json and prints a chart. Exit code 1
 * when something grows.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { draw, sparkline } from './lib/chart.mjs';
import { generate } from './lib/measure.mjs';
import { stopAll } from './lib/processes.mjs';
import { startStandIn } from './lib/stores.mjs';
import { PATH, TARGETS } from './lib/targets.mjs';

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '200' },
    out: { type: 'string', default: 'bench/results/soak' },
  },
});
const minutes = Number(options.minutes);
const rate = Number(options.rate);

const SERIES = {
  'RSS, MB': ({ transcript_receiver_process_resident_memory_bytes: bytes }) => bytes / 1e6,
  'heap, MB': ({ transcript_receiver_process_heap_used_bytes: bytes }) => bytes / 1e6,
  'active resources': (metrics) => metrics.transcript_receiver_process_active_resources,
  'budget used, MB': ({ transcript_receiver_memory_budget_used_bytes: bytes }) => bytes / 1e6,
  'event-loop lag p99, ms': (metrics) =>
    metrics['transcript_receiver_event_loop_lag_seconds{quantile="0.99"}'] * 1000,
};
/** What must not grow: by how much, as a share and in its own unit, the last quarter may lie over the second. */
const FLAT = { 'RSS, MB': [0.15, 10], 'heap, MB': [0.3, 15], 'active resources': [0.3, 20] };

const scratch = mkdtempSync(join(tmpdir(), 'receiver-soak-'));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => end(130));
let flat = false;
try {
  flat = await soak();
} catch (error) {
  console.error(error);
}
await end(flat ? 0 : 1);

async function end(code) {
  await stopAll();
  rmSync(scratch, { recursive: true, force: true });
  process.exit(code);
}

async function soak() {
  const store = await startStandIn(scratch);
  const server = await TARGETS.product.start({
    store,
    scratch,
    node: process.execPath,
    deployed: true,
  });
  const samples = [];
  let running = true;
  const watching = watch(server, store, samples, () => running);
  const common = { port: server.port, path: PATH, headers: TARGETS.product.headers };
  const groups = [
    {
      ...common,
      idPrefix: 'soak-a',
      connections: 24,
      perSecond: rate * 0.7,
      body: { kind: 'transcript', bytes: 10_240 },
    },
    {
      ...common,
      idPrefix: 'soak-b',
      connections: 8,
      perSecond: rate * 0.25,
      body: { kind: 'form', bytes: 10_240 },
    },
    {
      ...common,
      idPrefix: 'soak-c',
      connections: 4,
      perSecond: rate * 0.05,
      headers: {},
      body: { kind: 'transcript', bytes: 1_024 },
    },
    {
      ...common,
      idPrefix: 'soak-d',
      connections: 2,
      perSecond: 0.2,
      body: { kind: 'form-media', bytes: 30e6 },
    },
  ];
  const results = await generate({ groups, warmUpMs: 5_000, measureMs: minutes * 60_000 }, () => {});
  running = false;
  await watching;
  return report(samples, results);
}

async function watch(server, store, samples, isRunning) {
  const began = performance.now();
  const every = Math.max(500, (minutes * 60_000) / 400);
  let forgotten = 0;
  while (isRunning()) {
    const response = await fetch(`${server.adminUrl}/metrics`);
    const metrics = Object.fromEntries(
      (await response.text())
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => {
          const space = line.lastIndexOf(' ');
          return [line.slice(0, space), Number(line.slice(space + 1))];
        }),
    );
    samples.push({
      seconds: (performance.now() - began) / 1000,
      ...Object.fromEntries(Object.entries(SERIES).map(([name, read]) => [name, read(metrics)])),
    });
    // The stand-in remembers names; the soak is of the receiver, so it may forget them now and then.
    if (Math.floor((performance.now() - began) / 300_000) > forgotten) {
      forgotten += 1;
      await store.forget();
    }
    await sleep(every);
  }
}

function report(samples, results) {
  const faults = [];
  for (const name of Object.keys(SERIES)) {
    const values = samples.map((sample) => sample[name]);
    const quarter = (from) =>
      middle(values.slice(Math.floor(values.length * from), Math.floor(values.length * (from + 0.25))));
    const [early, late] = [quarter(0.25), quarter(0.75)];
    console.log(
      `${name.padEnd(24)} ${sparkline(values)}  ${early.toFixed(1)} -> ${late.toFixed(1)}, most ${Math.max(...values).toFixed(1)}`,
    );
    const [share, own] = FLAT[name] ?? [Number.POSITIVE_INFINITY, 0];
    if (late > early * (1 + share) + own) faults.push(`${name} grows`);
  }
  const statuses = results.map(({ statuses }) => statuses);
  console.log(
    `answers by group (10 KB, forms, without credential, 30 MB media): ${JSON.stringify(statuses)}`,
  );
  const expected = ['200', '200', '401', '200'];
  statuses.forEach((group, index) => {
    const others = Object.keys(group).filter((status) => status !== expected[index]);
    if (others.length > 0) faults.push(`group ${index} was answered ${others}`);
  });
  writeFileSync(`${options.out}.json`, `${JSON.stringify({ minutes, rate, samples, results })}\n`);
  writeFileSync(`${options.out}.svg`, draw(samples, Object.keys(SERIES)));
  console.log(
    `verdict: ${faults.length === 0 ? 'passed: flat' : `FAILED: ${faults.join(', ')}`}; ${options.out}.svg`,
  );
  return faults.length === 0;
}

function middle(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

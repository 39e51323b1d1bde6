/**
 * Resident memory of a receiver soon after its start and at rest, and the time to *listening*.
 *
 *   node bench/at-rest.mjs [--store file] [--rounds 3] [--seconds 15] [--calls 0] [--node path] [dist/main.js ...]
 *
 * Started as in the image; several builds take turns. With `--calls`, that many callbacks of 10 KB follow in three batches, of which the
 * last is reported, and the memory after them. Figures are medians.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { generate } from './lib/measure.mjs';
import { cpuMs, pathOf, peakRss, rss, stopAll } from './lib/processes.mjs';
import { median } from './lib/report.mjs';
import { FILE_STORE, startStandIn } from './lib/stores.mjs';
import { PATH, TARGETS } from './lib/targets.mjs';

const { values, positionals } = parseArgs({
  options: {
    store: { type: 'string', default: 's3' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '15' },
    calls: { type: 'string', default: '0' },
    node: { type: 'string', default: process.execPath },
  },
  allowPositionals: true,
});
const seconds = Number(values.seconds);
const calls = Number(values.calls);
const builds =
  positionals.length > 0 ? positionals.map((path) => resolve(path)) : [pathOf('../dist/main.js')];
const scratch = mkdtempSync(join(tmpdir(), 'receiver-at-rest-'));
const MB = 1024 * 1024;

try {
  const store = values.store === 'file' ? FILE_STORE : await startStandIn(scratch);
  const results = builds.map(() => []);
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const [index, main] of builds.entries()) results[index].push(await measure(store, main, round));
  }
  for (const [index, main] of builds.entries()) {
    console.log(`\n${main}`);
    for (const name of Object.keys(results[index][0]))
      console.log(`${name.padEnd(34)} ${median(results[index].map((each) => each[name])).toFixed(2)}`);
  }
} finally {
  await stopAll();
  rmSync(scratch, { recursive: true, force: true });
}

async function measure(store, main, round) {
  const folder = join(scratch, `${builds.indexOf(main)}-${round}`);
  mkdirSync(folder);
  await store.reset({ keep: 'all' });
  const began = performance.now();
  const { node } = values;
  const server = await TARGETS.product.start({ store, scratch: folder, node, main, deployed: true });
  const listening = performance.now() - began;
  const cpuToListening = cpuMs(server.pid);
  await sleep(2_500);
  const soon = rss(server.pid) / MB;
  await sleep(seconds * 1000 - 2_500);
  const result = {
    'ms to listening': listening,
    'CPU ms to listening': cpuToListening,
    'MB after 2.5 s': soon,
    [`MB after ${seconds} s`]: rss(server.pid) / MB,
    'CPU ms until then': cpuMs(server.pid),
  };
  if (calls > 0) {
    for (let batch = 0; batch < 3; batch += 1) {
      const before = cpuMs(server.pid);
      await send(server, batch);
      result['CPU ms of a callback'] = ((cpuMs(server.pid) - before) * 3) / calls;
    }
    result['MB after the callbacks'] = rss(server.pid) / MB;
    result['MB at most'] = peakRss(server.pid) / MB;
  }
  await server.stop();
  return result;
}

async function send(server, batch) {
  const group = {
    port: server.port,
    path: PATH,
    headers: { ...TARGETS.product.headers },
    connections: 48,
    count: Math.ceil(calls / 3),
    body: { kind: 'transcript', bytes: 10_240 },
    idPrefix: `batch${batch}`,
  };
  const [{ statuses }] = await generate({ groups: [group], warmUpMs: 0, measureMs: null }, () => {});
  if (statuses[200] !== group.count) throw new Error(`answers ${JSON.stringify(statuses)}`);
}

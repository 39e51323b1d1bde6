/**
 * The bytes that a fresh callback of 10 KB allocates on V8's heap, by call site, and the calls of the store that it
 * costs; fails above a bound of either. `.ci/run` runs it.
 *
 *   npm run allocations [-- --body transcript|form] [--callbacks 4000] [--rows 25] [--out file.heapprofile] [dist/main.js]
 *
 * `transcript` is one JSON body, `form` has three parts.
 *
 * The receiver runs as in production, the S3 stand-in and the sender in processes of their own. The heap is sampled, what
 * minor collections have freed included, so that the figures hardly depend on how fast or busy the machine is: a form takes
 * 129,400 bytes on one core, up to 132,700 on two fast ones. A round above a bound is repeated twice at most: on a stalled
 * machine, timer-driven work adds to it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { connectDevtools } from './lib/devtools.mjs';
import { generate } from './lib/measure.mjs';
import { stopAll } from './lib/processes.mjs';
import { startStandIn } from './lib/stores.mjs';
import { PATH, TARGETS } from './lib/targets.mjs';

const { values: options, positionals } = parseArgs({
  options: {
    body: { type: 'string', default: 'transcript' },
    callbacks: { type: 'string', default: '4000' },
    rows: { type: 'string', default: '25' },
    out: { type: 'string' },
  },
  allowPositionals: true,
});
const callbacks = Number(options.callbacks);

/** Upper bounds per callback. Calls: one for each artefact, and a ledger segment for every 24 callbacks or so. */
const BOUNDS = {
  transcript: { bytes: 64_000, calls: 1.1 },
  form: { bytes: 134_000, calls: 3.1 },
};
const bounds = BOUNDS[options.body];
if (bounds === undefined) throw new Error(`no such body: ${options.body}`);

/** Timer-driven work of the receiver (index, merge, canary) counts as well, and only adds: one round within the bounds is enough. */
const ROUNDS = 3;

/** V8's mean distance of two samples, in bytes: with 8 KiB the sum of the same callbacks varies by one in a hundred. */
const SAMPLING_INTERVAL = 1024;

process.env.BENCH_NODE_OPTIONS = '--inspect=127.0.0.1:0';
const scratch = mkdtempSync(join(tmpdir(), 'allocations-'));
try {
  process.exitCode = (await main()) ? 0 : 1;
} finally {
  await stopAll();
  rmSync(scratch, { recursive: true });
}

async function main() {
  const store = await startStandIn(scratch);
  const receiver = await TARGETS.product.start({ store, scratch, main: positionals[0] });
  const devtools = await connectDevtools(join(scratch, 'product.log'));
  // Until the optimising compiler has seen the code of a callback: slower code allocates more.
  await send(receiver, 'warm-up', 6000);
  let isWithin = false;
  for (let round = 1; round <= ROUNDS && !isWithin; round += 1)
    isWithin = await measure(receiver, devtools, round);
  devtools.close();
  if (!isWithin) console.log('verdict: failed');
  return isWithin;
}

/** Whether the callbacks of a round stay within the bounds. */
async function measure(receiver, devtools, round) {
  const before = await callsOf(receiver);
  await devtools.post('HeapProfiler.startSampling', {
    samplingInterval: SAMPLING_INTERVAL,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  await send(receiver, `measured-${round}`, callbacks);
  const { profile } = await devtools.post('HeapProfiler.stopSampling');
  const calls = ((await callsOf(receiver)) - before) / callbacks;
  if (options.out) writeFileSync(options.out, JSON.stringify(profile));
  const sites = bytesBySite(profile.head);
  const bytes = [...sites.values()].reduce((sum, each) => sum + each, 0) / callbacks;
  print(sites, bytes);
  const isWithin = bytes <= bounds.bytes && calls <= bounds.calls;
  const figures = `${Math.round(bytes)} bytes and ${calls.toFixed(3)} store calls per ${options.body}, Node ${process.version}`;
  console.log(`\n${isWithin ? 'verdict: passed' : `round ${round}: above the bounds`}, ${figures}`);
  return isWithin;
}

async function send({ port }, idPrefix, count) {
  const body = { kind: options.body, bytes: 10 * 1024 };
  const group = {
    port,
    path: PATH,
    headers: TARGETS.product.headers,
    idPrefix,
    connections: 48,
    count,
    body,
  };
  const [{ statuses }] = await generate({ groups: [group], warmUpMs: 0, measureMs: null }, () => {});
  if (statuses[200] !== count) throw new Error(`answers: ${JSON.stringify(statuses)}`);
}

/** Calls of the store so far, by the receiver's own count. */
async function callsOf({ adminUrl }) {
  const headers = { authorization: `Bearer ${TARGETS.product.headers['X-Bench-Token']}` };
  const text = await (await fetch(new URL('/metrics', adminUrl), { headers })).text();
  const counts = text.matchAll(/^transcript_receiver_store_calls_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Own bytes of each call site; of functions of Node and V8 itself with the caller of ours that led to it. */
function bytesBySite(head) {
  const sites = new Map();
  const walk = (node, caller) => {
    const { functionName, url, lineNumber } = node.callFrame;
    const place = url.replace(/^.*\/(node_modules|dist)\//, '$1/').replace(/^file:\/\//, '');
    const name = `${functionName || '(anonymous)'} ${place}:${lineNumber + 1}`;
    const isOurs = /^(node_modules|dist)\//.test(place);
    const site = isOurs || caller === '' ? name : `${name}  <- ${caller}`;
    if (node.selfSize > 0) sites.set(site, (sites.get(site) ?? 0) + node.selfSize);
    for (const child of node.children) walk(child, isOurs ? name : caller);
  };
  walk(head, '');
  return sites;
}

function print(sites, total) {
  const groups = new Map();
  for (const [site, bytes] of sites) {
    const group = groupOf(site);
    groups.set(group, (groups.get(group) ?? 0) + bytes);
  }
  for (const [title, map] of [
    ['by file or package', groups],
    ['by call site', sites],
  ]) {
    console.log(`\n${title}, bytes per callback of ${Math.round(total)}`);
    for (const [name, bytes] of [...map].sort((a, b) => b[1] - a[1]).slice(0, Number(options.rows))) {
      console.log(
        `${Math.round(bytes / callbacks)
          .toString()
          .padStart(7)}  ${name}`,
      );
    }
  }
}

function groupOf(site) {
  const [, place] = /^\S* (.*):\d+/.exec(site.split('  <- ')[0]) ?? [];
  const [, scoped] = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(place ?? '') ?? [];
  return scoped ?? (place || site.split(' ')[0]);
}

/**
 * What looks at the past and compaction cost the callbacks: one replica on an S3 stand-in gets callbacks at a steady rate,
 * alone, while a client searches old hours, and while the replica compacts them. Prints p50 and p99 of each phase, and as
 * ratios of those at rest. Goal: p99 at most doubled.
 *
 *   npm run build && node bench/history-load.mjs [--lines 150000] [--rate 50] [--seconds 20] [--store-ms 30]
 *
 * Two closed hours of so many lines each: the newer one fills the window in memory, the older one is searched.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { hourAt } from '../dist/ledger/hours.js';
import { segmentKey } from '../dist/ledger/segment-key.js';
import { openStore } from '../dist/store/open-store.js';
import { V8_FLAGS } from '../scripts/v8-flags.mjs';
import { exampleLine } from './lib/example-line.mjs';
import { pathOf, startServer, stopAll } from './lib/processes.mjs';
import { startStandIn } from './lib/stores.mjs';
import { PATH } from './lib/targets.mjs';

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '150000' },
    rate: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '20' },
    'store-ms': { type: 'string', default: '30' },
  },
});
const [lines, rate, seconds, storeMs] = ['lines', 'rate', 'seconds', 'store-ms'].map((name) =>
  Number(values[name]),
);
const HOUR = 3_600_000;
const LINES_PER_SEGMENT = 100;
/** Of the window in memory. */
const WINDOW = 200_000;
const OLD = Math.floor(Date.now() / HOUR) * HOUR - 12 * HOUR;
const TOKEN = 'token-of-the-benchmark';
const COMPACTION = 'while it compacts';
const scratch = mkdtempSync(join(tmpdir(), 'history-load-'));

try {
  const standIn = await startStandIn(scratch);
  await standIn.reset({ keep: 'all' });
  const store = {
    url: 's3://bucket/prefix',
    s3: {
      ...{ endpoint: standIn.endpoint, region: 'us-east-1', forcePathStyle: true },
      ...{ accessKeyId: 'bench', secretAccessKey: 'bench-secret' },
    },
  };
  await writeHour(store, OLD, lines);
  await writeHour(store, OLD + HOUR, WINDOW);
  await standIn.setLatency(storeMs);
  console.log(
    '| old hours | callbacks | number | p50 ms | p99 ms | max ms | p99, of that at rest | looks, median |',
  );
  console.log('|---|---|---:|---:|---:|---:|---:|---:|');
  const looks = { 'pages of 50 of an old hour': pages, 'lines of old jobs': jobs };
  await phases('open', store, { 'at rest': nothing, ...looks, 'at rest again': nothing });
  await phases('open', store, { 'at rest': nothing, [COMPACTION]: nothing }, 60 + 2 * seconds);
  await phases('compacted', store, { 'at rest': nothing, ...looks, 'at rest again': nothing });
} finally {
  await stopAll();
  rmSync(scratch, { recursive: true, force: true });
}

async function writeHour(settings, start, count) {
  const store = await openStore(settings);
  const segments = Math.ceil(count / LINES_PER_SEGMENT);
  const limit = pLimit(16);
  await Promise.all(
    Array.from({ length: segments }, (_, segment) =>
      limit(() => {
        const writtenAt = Math.floor(start + ((segment + 1) * 3_599_000) / segments);
        const texts = Array.from({ length: LINES_PER_SEGMENT }, (_, index) =>
          JSON.stringify(
            exampleLine(segment * LINES_PER_SEGMENT + index, writtenAt - LINES_PER_SEGMENT + index),
          ),
        );
        const key = segmentKey({ hour: hourAt(start), writer: 'bench', number: segment + 1 });
        const body = Buffer.from(`${texts.join('\n')}\n`);
        return store.create(key, body, { contentType: 'application/x-ndjson', metadata: {} });
      }),
    ),
  );
  await store.close();
}

/** @param compactAt seconds after the start at which the first compaction begins; default: never */
async function phases(hours, store, works, compactAt = null) {
  const logFile = join(scratch, 'receiver.log');
  const settings = {
    receiver: { host: '127.0.0.1', port: 0 },
    admin: { host: '127.0.0.1', port: 0, tokens: { bench: TOKEN } },
    sources: { default: { allowUnauthenticated: true } },
    ledger: { compact: compactAt !== null },
    store,
  };
  // The first run of what is repeated begins at a random moment within ten minutes.
  const early = `data:text/javascript,Math.random=()=>${(compactAt ?? 0) / 600}`;
  const receiver = await startServer({
    name: 'receiver',
    args: [
      ...V8_FLAGS,
      ...(compactAt === null ? [] : ['--import', early]),
      pathOf('../dist/main.js'),
      'serve',
    ],
    env: { NODE_CONFIG: JSON.stringify(settings) },
    logFile,
    isReady: (line) => line.event === 'listening',
  });
  const started = performance.now();
  const get = async (path) => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const response = await fetch(`${receiver.said.adminUrl}/admin/api/${path}`, { headers });
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    return response.json();
  };
  while ((await get('health')).ledger.state !== 'ready') await sleep(200);
  const compacted = () => readFileSync(logFile, 'utf8').includes('"event":"compaction"');
  let rest = null;
  for (const [name, look] of Object.entries(works)) {
    if (name === COMPACTION) await sleep((compactAt + 2) * 1000 - (performance.now() - started));
    const { p50, p99, max, count, took } = await underLoad(receiver, (signal) => look(get, signal));
    if (compacted()) throw new Error('the compaction ended too early: ask for more lines');
    rest ??= p99;
    const cells = [p50, p99, max].map((each) => each.toFixed(0)).join(' | ');
    const median = took.sort((a, b) => a - b)[took.length >> 1];
    const looks = median === undefined ? '' : `${took.length} of ${median.toFixed(0)} ms`;
    console.log(`| ${hours} | ${name} | ${count} | ${cells} | ${(p99 / rest).toFixed(2)} | ${looks} |`);
  }
  while (compactAt !== null && !compacted()) await sleep(500);
  await receiver.stop();
}

/** Callbacks at the steady rate, and looks at the same time. */
async function underLoad(receiver, look) {
  const generator = fork(pathOf('load/generator.mjs'));
  const group = {
    port: Number(new URL(receiver.said.receiverUrl).port),
    path: PATH,
    headers: {},
    idPrefix: `h${Date.now().toString(36)}`,
    connections: 32,
    perSecond: rate,
    body: { kind: 'transcript', bytes: 10_240 },
  };
  const looking = new AbortController();
  generator.send({ groups: [group], warmUpMs: 2000, measureMs: seconds * 1000 });
  await once(generator, 'message');
  const looks = look(looking.signal);
  const [{ results, message }] = await once(generator, 'message');
  looking.abort();
  const took = await looks;
  generator.disconnect();
  if (Object.keys(results?.[0].statuses ?? {}).join() !== '200')
    throw new Error(`callbacks failed: ${message ?? JSON.stringify(results[0].statuses)}`);
  return { ...results[0], took };
}

/** One look after the other. Returns how long each took. */
async function repeat(signal, look) {
  const took = [];
  while (!signal.aborted) {
    const began = performance.now();
    await look(took.length);
    took.push(performance.now() - began);
  }
  return took;
}

async function nothing() {
  return [];
}

/** The newest 50 lines of the old hour, and so on backwards. */
function pages(get, signal) {
  let cursor = null;
  return repeat(signal, async () => {
    const more = cursor === null ? '' : `&cursor=${cursor}`;
    const until = new Date(OLD + HOUR).toISOString();
    ({ nextCursor: cursor } = await get(`deliveries?limit=50&until=${until}${more}`));
  });
}

/** Lines of jobs all over the old hour; where it is not compacted, a part of the search. */
function jobs(get, signal) {
  const [since, until] = [OLD, OLD + HOUR].map((time) => new Date(time).toISOString());
  return repeat(signal, (number) => {
    const job = `job${(number * 7919) % lines}`;
    return get(`deliveries?job=${job}&since=${since}&until=${until}`);
  });
}

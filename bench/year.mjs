/**
 * The dashboard over a year: the real read model over a store that is computed instead of kept. A year of daily rollups, a
 * week of hour rollups of 10 million deliveries a day, and the last hours as segments. Prints how long each answer takes,
 * first and again, what it asks of the store, and memory.
 *
 *   npm run build && node --expose-gc bench/year.mjs [storeMs=30] [deliveriesPerDay=10000000] [failingJobs=20]
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeTime } from 'ulid';
import { encodeLedgerFile } from '../dist/ledger/parquet/ledger-parquet.js';
import { createLedgerView } from '../dist/ledger/read/ledger-view.js';
import { encodeRollup } from '../dist/ledger/rollup/rollup-document.js';
import { sumRollups } from '../dist/ledger/rollup/sum-rollups.js';
import { segmentKey } from '../dist/ledger/segment-key.js';

const [storeMs = 30, perDay = 10e6, failing = 20] = process.argv.slice(2).map(Number);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.now();
const HOUR_NOW = Math.floor(NOW / HOUR) * HOUR;
/** Hours that end later are open. */
const CLOSED = HOUR_NOW - 6 * HOUR;
const LINES_PER_FILE = 100_000;
const LINES_PER_SEGMENT = 100;
const FILES_PER_HOUR = Math.ceil(perDay / 24 / LINES_PER_FILE);
const iso = (time) => new Date(time).toISOString();
const day = (time) => `dt=${iso(time).slice(0, 10)}/`;
const hour = (time) => `${day(time)}hour=${iso(time).slice(11, 13)}/`;

const counts = new Map();
let bytesRead = 0;
const objects = new Map();

function line(number, time, overrides = {}) {
  return {
    ...{ v: 1, deliveryId: `${encodeTime(time)}${String(number).padStart(16, '0')}`, receivedAt: iso(time) },
    ...{ origin: 'callback', source: 'default', region: 'eu1', clientIp: '40.74.41.91', method: 'POST' },
    ...{ jobId: `job${number}`, status: 'success', credential: 'main', outcome: 'stored', reason: null },
    items: [
      {
        ...{ kind: 'transcript.json-v2', key: `jobs/job${number}/transcript.json`, size: 10_240 },
        ...{ sha256: 'a'.repeat(64), outcome: 'created' },
      },
    ],
    ...{ bytes: 10_240, durationMs: 40, shape: { contentType: 'application/json', framing: 'sized' } },
    ...overrides,
  };
}

/** Five regions, two sources, five outcomes; durations over 60 buckets. */
function groups(lines) {
  const outcomes = [
    ['stored', 0.94],
    ['duplicate', 0.03],
    ['noted', 0.02],
    ['refused', 0.008],
    ['conflict', 0.002],
  ];
  return ['eu1', 'eu2', 'us1', 'us2', 'au1'].flatMap((region) =>
    ['intake', 'archive'].flatMap((source) =>
      outcomes.map(([outcome, share]) => {
        const count = Math.round((lines * share) / 10);
        const width = Math.max(5, Math.round(60 * share));
        const durations = Object.fromEntries(
          Array.from({ length: width }, (_, index) => [40 + index, Math.ceil(count / width)]),
        );
        const names = {
          source,
          region,
          status: outcome === 'noted' ? 'error' : 'success',
          origin: 'callback',
          outcome,
        };
        return { ...names, lines: count, bytes: count * 10_240, durations, maxDuration: 12_345 };
      }),
    ),
  );
}

const lastAccepted = {
  bySource: { intake: NOW - DAY },
  byRegion: { eu1: NOW - DAY },
  byCredential: {},
};
const COMMON = { v: 1, broken: 0, newer: 0, lastAccepted };
const range = (since, length) => ({ first: iso(since), last: iso(since + length - 1) });
/** The file of every rollup, and what the rollup says of it. */
let file = { bytes: Buffer.alloc(0), parquet: {} };

/** The share of a file in the failing jobs of a week. */
function failuresOf(start, n) {
  const before = (file) => Math.floor((file * failing) / (7 * 24 * FILES_PER_HOUR));
  const file = (start / HOUR) * FILES_PER_HOUR + n;
  return Array.from({ length: before(file + 1) - before(file) }, (_, index) => {
    const jobId = `lost${before(file) + index}`;
    const failed = line(index, start + HOUR / 2 + index, { outcome: 'failed', jobId });
    return { line: failed, first: failed.receivedAt };
  });
}

function hourRollup(start, n) {
  const perSlot = LINES_PER_FILE / 2;
  const slot = Math.floor((6 * (n - 1)) / FILES_PER_HOUR);
  const slots = [slot, slot + 1].map((each) => ({
    start: start + Math.min(5, each) * 600_000,
    groups: groups(perSlot),
  }));
  return {
    ...{ ...COMMON, hour: hour(start), rows: LINES_PER_FILE, ...range(start, HOUR), slots },
    ...{ key: keyOf(start, n), n, files: FILES_PER_HOUR, previous: null, writers: { a: [[1, 20_000]] } },
    parquet: { ...file.parquet, key: `ledger-parquet/${hour(start)}000${n}.parquet` },
    attention: failuresOf(start, n),
    attentionOmitted: 0,
  };
}

/** The rollups of one day, summed up as compaction does; the other days have the same figures. */
function dailyTemplate(start) {
  const daily = sumRollups(
    '',
    filesOf(start).map(([each, n]) => hourRollup(each, n)),
  );
  return (day) => {
    const shift = Date.parse(day) - start;
    const slots = daily.slots.map((each) => ({ ...each, start: each.start + shift }));
    return encodeRollup({ ...daily, key: `rollups-daily/dt=${day}/0001.json`, slots, lastAccepted });
  };
}

const keyOf = (start, n) => `rollups/${hour(start)}000${n}.json`;
const filesOf = (start) =>
  Array.from({ length: 24 }, (_, index) => start + index * HOUR)
    .filter((each) => each < CLOSED)
    .flatMap((each) => Array.from({ length: FILES_PER_HOUR }, (_, n) => [each, n + 1]));

const put = (key, compute) => objects.set(key, compute);
const sizeOf = (pieces) => pieces.reduce((sum, { length }) => sum + length, 0);

/** Bytes from `start` to before `end` of pieces that follow each other. */
function cut(pieces, start, end) {
  let offset = 0;
  return pieces.map((piece) => {
    const from = offset;
    offset += piece.length;
    return piece.subarray(Math.max(0, start - from), Math.max(0, end - from));
  });
}

async function encodeFile(lines) {
  const { content, ...parquet } = await encodeLedgerFile(
    lines.map((each) => ({ ...each, writtenAt: Date.parse(each.receivedAt), text: JSON.stringify(each) })),
  );
  return { bytes: content, parquet: { bytes: content.length, ...parquet } };
}

async function buildStore() {
  const lines = Array.from({ length: LINES_PER_FILE }, (_, index) => line(index, CLOSED + index));
  file = await encodeFile(lines);
  const weekAgo = Math.floor((NOW - 8 * DAY) / DAY) * DAY;
  const first = Math.floor((NOW - 366 * DAY) / DAY) * DAY;
  const dailyOf = dailyTemplate(first);
  for (let start = first; start < CLOSED; start += DAY) {
    const keys = filesOf(start);
    const covers = keys.map(([each, n]) => keyOf(each, n));
    if (start >= weekAgo) {
      for (const [index, [each, n]] of keys.entries()) {
        const rollup = encodeRollup(hourRollup(each, n));
        put(covers[index], () => [rollup]);
        put(`ledger-parquet/${hour(each)}000${n}.parquet`, () => [file.bytes]);
      }
    }
    if (start + DAY < NOW - DAY) {
      const daily = dailyOf(iso(start).slice(0, 10));
      put(`rollups-daily/${day(start)}0001.json`, () => [daily]);
    }
  }
  const gap = DAY / perDay;
  const numbers = new Map();
  for (let start = NOW - Math.min(6 * HOUR, 400_000 * gap); start < NOW; start += gap * LINES_PER_SEGMENT) {
    const number = (numbers.get(hour(start)) ?? 0) + 1;
    numbers.set(hour(start), number);
    put(segmentKey({ hour: hour(start), writer: 'bench', number }), () => {
      const texts = Array.from({ length: LINES_PER_SEGMENT }, (_, index) =>
        JSON.stringify(line(Math.round(start) + index, Math.floor(start + index * gap))),
      );
      return [Buffer.from(`${texts.join('\n')}\n`)];
    });
  }
  for (let start = CLOSED; start <= HOUR_NOW; start += HOUR) put(`ledger/${hour(start)}other`, () => []);
}

async function enter(operation) {
  counts.set(operation, (counts.get(operation) ?? 0) + 1);
  if (storeMs > 0) await sleep(storeMs);
}

const store = {
  location: 'computed',
  clockOffset: () => 0,
  async head(key) {
    await enter('head');
    const compute = objects.get(key);
    return compute ? { key, size: sizeOf(compute()), modifiedAt: new Date() } : null;
  },
  async read(key, part) {
    await enter('read');
    const compute = objects.get(key);
    if (!compute) return null;
    const pieces = compute();
    const size = sizeOf(pieces);
    const body = part ? cut(pieces, part.start, part.end + 1) : pieces;
    bytesRead += sizeOf(body);
    return { info: { key, size, modifiedAt: new Date() }, body: Readable.from(body) };
  },
  async *list(prefix, options) {
    const keys = keysBelow(prefix).filter((key) => !(key <= (options?.startAfter ?? '')));
    for (let index = 0; index === 0 || index < keys.length; index += 1000) {
      await enter('list');
      for (const key of keys.slice(index, index + 1000)) yield { key, size: 1, modifiedAt: new Date() };
    }
  },
  async *folders(prefix) {
    await enter('list');
    const rest = keysBelow(prefix).map((key) => key.slice(prefix.length));
    yield* new Set(
      rest.filter((key) => key.includes('/')).map((key) => prefix + key.slice(0, key.indexOf('/') + 1)),
    );
  },
};

function keysBelow(prefix) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < prefix) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < sorted.length && sorted[end].startsWith(prefix)) end += 1;
  return sorted.slice(low, end);
}

const megabytes = () => {
  global.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { held: ((heapUsed + external) / 2 ** 20).toFixed(0), rss: (rss / 2 ** 20).toFixed(0) };
};

async function timed(name, work) {
  counts.clear();
  bytesRead = 0;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const cpu = process.cpuUsage();
  delay.enable();
  const before = performance.now();
  const answer = await work();
  const took = performance.now() - before;
  delay.disable();
  const { user, system } = process.cpuUsage(cpu);
  const calls = [...counts].map(([operation, count]) => `${count} ${operation}`).join(', ') || 'none';
  console.log(
    `${name.padEnd(30)} ${took.toFixed(0).padStart(6)} ms   CPU ${((user + system) / 1000).toFixed(0).padStart(6)} ms   loop at most ${(delay.max / 1e6).toFixed(0).padStart(4)} ms   store: ${calls}, ${(bytesRead / 2 ** 20).toFixed(1)} MiB`,
  );
  return answer;
}

console.log(`${perDay} deliveries a day, ${storeMs} ms a call, ${FILES_PER_HOUR} files an hour`);
await buildStore();
const kibOf = (prefix) => {
  const [, compute] = [...objects].findLast(([key]) => key.startsWith(prefix));
  return (sizeOf(compute()) / 1024).toFixed(0);
};
console.log(`a daily rollup has ${kibOf('rollups-daily/')} KiB, an hour's ${kibOf('rollups/')} KiB`);
const sorted = [...objects.keys()].sort();
let offset = 0;
const view = createLedgerView({ store, clock: () => Date.now() + offset });
await timed('load the window', () => view.refresh());
console.log(`memory ${JSON.stringify(megabytes())}, ${view.status().rows} rows`);
const ago = (days) => new Date(NOW - days * DAY).toISOString();
const health = () => Promise.all([view.summary(), view.openFailures({ limit: 1 })]);
const answers = [
  ['health', health],
  ['failures', () => view.openFailures({ limit: 50 })],
  ['summary, 24 hours', () => view.summary({ since: ago(1), buckets: 96 })],
  ['summary, 7 days', () => view.summary({ since: ago(7), buckets: 84 })],
  ['summary, 30 days', () => view.summary({ since: ago(30), buckets: 60 })],
  ['summary, 1 year', () => view.summary({ since: ago(365), buckets: 53 })],
];
for (const [name, work] of answers) {
  // A replica searches the past when it starts. Periods are chosen later.
  if (name === 'summary, 7 days') await timed('rest of the search', () => view.readPast());
  await timed(`${name}, first`, work);
}
console.log(`memory ${JSON.stringify(megabytes())}`);
for (const [name, work] of answers) await timed(`${name}, again`, work);
offset = 60_000;
for (const [name, work] of answers) await timed(`${name}, a minute later`, work);
const { counts: open, complete, faults } = await view.openFailures({ limit: 1 });
const year = await view.summary({ since: ago(365), buckets: 53 });
console.log(`failing: ${JSON.stringify(open)}, complete: ${complete}, not looked at: ${faults.join('; ')}`);
console.log(`year: ${year.total.lines} deliveries, gaps: ${JSON.stringify(year.gaps)}`);
await view.stop();

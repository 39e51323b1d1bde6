/**
 * One hour of a busy ledger, compacted: the real `compact` over a store that computes the segments, forgets the Parquet
 * files and takes `storeMs` for every call. Prints time, CPU, memory and store calls.
 *
 *   npm run build && node --max-semi-space-size=8 --max-old-space-size=128 bench/compact-hour.mjs [lines=4200000] [linesPerSegment=20] [storeMs=30]
 *
 * 4.2 million lines are an hour of 100 million a day. The CPU of computing the lines is left out. docs/scale.md reads the
 * numbers.
 */
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { compact } from '../dist/ledger/compact/compact.js';
import { parseSegmentKey, segmentKey } from '../dist/ledger/segment-key.js';
import { ledgerLine } from './lib/ledger-lines.mjs';

const [lines = 4_200_000, perSegment = 20, storeMs = 30] = process.argv.slice(2).map(Number);
const HOUR_MS = 3_600_000;
const START = Date.parse('2026-03-04T05:00:00Z');
const HOUR = 'dt=2026-03-04/hour=05/';
const FOLDER = `ledger/${HOUR}`;
const WRITERS = 4;
const segments = Math.ceil(lines / perSegment);
const step = HOUR_MS / segments;

const calls = {};
const objects = new Map();
let [computing, bytes, parquetBytes, peak] = [0, 0, 0, 0];

function enter(call) {
  calls[call] = (calls[call] ?? 0) + 1;
  return sleep(storeMs);
}

/** The writers take turns. */
function* segmentsOf(writer) {
  for (let number = 1; (number - 1) * WRITERS + writer < segments; number += 1)
    yield segmentKey({ hour: HOUR, writer: `writer-${writer}`, number });
}

function indexOf(key) {
  const { writer, number } = parseSegmentKey(key);
  return (number - 1) * WRITERS + Number(writer.slice('writer-'.length));
}

const writtenAt = (key) => new Date(START + Math.floor(indexOf(key) * step));

function segment(number) {
  const cpu = process.cpuUsage();
  const time = START + number * step;
  const count = Math.min(perSegment, lines - number * perSegment);
  const texts = Array.from({ length: count }, (_, index) =>
    JSON.stringify(ledgerLine(number * perSegment + index, Math.floor(time + (index * step) / perSegment))),
  );
  const body = Buffer.from(`${texts.join('\n')}\n`);
  const { user, system } = process.cpuUsage(cpu);
  computing += user + system;
  bytes += body.length;
  return body;
}

function keep(key, body) {
  if (key.endsWith('.parquet')) parquetBytes += body.length;
  else objects.set(key, body);
}

const info = (key, body) => ({
  key,
  size: body.length,
  modifiedAt: key.startsWith(FOLDER) ? writtenAt(key) : new Date(),
  metadata: {},
  contentType: '',
});

const store = {
  location: 'computed:',
  clockOffset: () => 0,
  partSize: 8 * 1024 * 1024,
  async *folders(prefix) {
    await enter('LIST');
    const keys = [FOLDER, ...objects.keys()].filter((key) => key.startsWith(prefix));
    const names = keys.map((key) => /^[^/]*\//.exec(key.slice(prefix.length))?.[0]);
    for (const name of new Set(names)) if (name) yield prefix + name;
  },
  async *list(prefix, { startAfter = '' } = {}) {
    if (!prefix.startsWith('ledger/')) {
      await enter('LIST');
      for (const key of [...objects.keys()].sort()) {
        if (key.startsWith(prefix) && key > startAfter) yield info(key, objects.get(key));
      }
      return;
    }
    let listed = 0;
    for (let writer = 0; writer < WRITERS; writer += 1) {
      for (const key of segmentsOf(writer)) {
        if (listed % 1000 === 0) await enter('LIST');
        listed += 1;
        if (key > startAfter) yield { key, size: perSegment * 770, modifiedAt: writtenAt(key) };
      }
    }
  },
  async read(key) {
    await enter('GET');
    const body = key.startsWith(FOLDER) ? segment(indexOf(key)) : objects.get(key);
    return body === undefined ? null : { info: info(key, body), body: Readable.from([body]) };
  },
  async head(key) {
    await enter('HEAD');
    return objects.has(key) ? info(key, objects.get(key)) : null;
  },
  async create(key, body) {
    await enter('PUT');
    if (objects.has(key)) return 'exists';
    keep(key, Buffer.from(body));
    return 'created';
  },
  async replace(key, body) {
    await enter('PUT');
    keep(key, Buffer.from(body));
  },
  async delete(key) {
    await enter('DELETE');
    objects.delete(key);
  },
};

setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 100).unref();
const atRest = process.memoryUsage.rss();
const cpu = process.cpuUsage();
const began = performance.now();
const parts = {
  ...{ store, clock: () => START + 12 * HOUR_MS, keepSegments: null },
  // As the command does.
  concurrency: 32,
};
const report = await compact(parts);
const seconds = (performance.now() - began) / 1000;
const { user, system } = process.cpuUsage(cpu);
const own = (user + system - computing) / 1e6;
const mib = (size) => `${Math.round(size / 2 ** 20)} MiB`;
console.log(
  `${report.lines} lines in ${report.segments} segments: ${report.files} files, faults: ${JSON.stringify(report.faults)}`,
);
console.log(
  `  ${seconds.toFixed(0)} s; CPU ${own.toFixed(0)} s, ${Math.round(report.lines / own)} lines a second of it`,
);
console.log(`  ${mib(bytes)} of text, Parquet ${((parquetBytes / bytes) * 100).toFixed(1)} % of it`);
console.log(`  resident memory ${mib(atRest)} before, at most ${mib(peak)}`);
console.log(`  calls to the store: ${JSON.stringify(calls)}`);

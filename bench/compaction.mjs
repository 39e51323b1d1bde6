/**
 * What it costs to write ledger lines as a Parquet file with its rollup, and to read them back: CPU, memory, size, and how
 * long the event loop is blocked. The receiver compacts in its own process, beside the callbacks.
 *
 *   npm run build && node --max-semi-space-size=4 bench/compaction.mjs [lines=60000] [files=3]
 *
 * The lines are computed; so many fill a file of 48 MiB of text, the most that is compacted at once. Goals: 10,000 lines a second and core, at most 256 MB, 16 to 20 % of the size of NDJSON.
 */
import { Readable } from 'node:stream';
import { buildRollup } from '../dist/ledger/compact/build-rollup.js';
import { writeLedgerFile } from '../dist/ledger/compact/ledger-parquet.js';
import { openLedgerFile } from '../dist/ledger/compact/open-ledger-file.js';
import { sortLines } from '../dist/ledger/compact/sort-lines.js';
import { ledgerLine } from './lib/ledger-lines.mjs';

const [lines = 60_000, files = 3] = process.argv.slice(2).map(Number);
const HOUR = Date.parse('2026-03-04T05:00:00Z');

/** Lines of an hour as a process holds them that read segments of some 20 lines, a second late at most. */
function computeLines(file) {
  return Array.from({ length: lines }, (_, index) => {
    const number = file * lines + index;
    const jitter = (number * 7919) % 1000;
    const line = ledgerLine(number, Math.floor(HOUR + (index * 3_590_000) / lines) + jitter);
    const { receivedAt, deliveryId, outcome } = line;
    return { receivedAt, deliveryId, outcome, text: JSON.stringify(line) };
  });
}

/** Keeps the last file. */
function createStore() {
  let body = Buffer.alloc(0);
  const info = () => ({ size: body.length });
  return {
    partSize: 8 * 1024 * 1024,
    async create(_, content) {
      body = content;
      return 'created';
    },
    async startUpload() {
      const parts = [];
      return {
        write: async (part) => parts.push(Buffer.from(part)),
        async complete() {
          body = Buffer.concat(parts);
          return 'created';
        },
        abort: async () => {},
      };
    },
    head: async () => info(),
    read: async (_, { start, end }) => ({
      info: info(),
      body: Readable.from([body.subarray(start, end + 1)]),
    }),
  };
}

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Also how much CPU passes between two turns of the event loop: on a busy machine the clock would measure the others. */
async function measure(work) {
  const began = cpuMs();
  const turns = [];
  let last = began;
  let timer = setImmediate(function turn() {
    const now = cpuMs();
    turns.push(now - last);
    last = now;
    timer = setImmediate(turn);
  });
  const result = await work();
  clearImmediate(timer);
  turns.sort((a, b) => a - b);
  const blocked = { p99: round(turns[Math.floor(turns.length * 0.99)], 1), max: round(turns.at(-1), 1) };
  return { result, cpu: (cpuMs() - began) / 1000, blocked };
}

const round = (value, digits = 0) => Number(value.toFixed(digits));
const mib = (bytes) => round(bytes / 1024 / 1024);

const store = createStore();
for (let file = 0; file < files; file += 1) {
  let computed = computeLines(file);
  const textBytes = computed.reduce((sum, { text }) => sum + text.length + 1, 0);
  global.gc?.();
  const before = process.memoryUsage.rss();
  const written = await measure(async () => {
    const rollup = buildRollup();
    const sorted = await sortLines(computed);
    const info = await writeLedgerFile(store, 'file', sorted, (line) => rollup.add(line));
    const head = { hour: '', segments: [], parquet: null, broken: 0, newer: 0 };
    return {
      bytes: info.bytes,
      rss: process.memoryUsage.rss(),
      rollup: JSON.stringify(rollup.finish(head)).length,
    };
  });
  computed = null;
  const read = await measure(async () => {
    const open = await openLedgerFile(store, 'file');
    let found = 0;
    for (const index of open.rowGroups.keys()) found += (await open.readLines(index)).length;
    if (found !== lines) throw new Error(`${found} of ${lines} lines`);
  });
  const { bytes, rollup } = written.result;
  console.log({
    bytesPerLine: round(textBytes / lines),
    writtenPerCpuSecond: round(lines / written.cpu),
    readPerCpuSecond: round(lines / read.cpu),
    sizeOfNdjson: `${round((bytes / textBytes) * 100, 1)} %`,
    rollupBytes: rollup,
    cpuMsPerTurnWriting: written.blocked,
    cpuMsPerTurnReading: read.blocked,
    rssMib: {
      withLines: mib(before),
      afterWriting: mib(written.result.rss),
      peak: round(process.resourceUsage().maxRSS / 1024),
    },
  });
}

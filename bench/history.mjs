/**
 * A look at a busy hour: a page of 50 deliveries, the next one, and a job's lines, of a replica that followed the hour, of one that
 * started later, and after the hour was compacted. Time, memory above rest, store calls, and delay of the event loop, in which callbacks would wait.
 *
 *   npm run build && node bench/history.mjs [lines=1200000] [storeMs=30] [linesPerSegment=12]
 *
 * The segments are computed, not kept; the compacted files go to a temporary folder. The measurement runs with the flags of
 * the image. Goals: 1 s compacted; 3 s, or a part with a cursor, before that; 64 MB above rest.
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { compactHour } from '../dist/ledger/compact/compact-hour.js';
import { createLedgerView } from '../dist/ledger/read/ledger-view.js';
import { V8_FLAGS } from '../scripts/v8-flags.mjs';
import { exampleLine } from './lib/example-line.mjs';

const [mode, folder, ...numbers] = process.argv[2] === 'child' ? process.argv.slice(3) : [null, null];
const given = (mode ? numbers : process.argv.slice(2)).map(Number);
const [lines = 1_200_000, storeMs = 30, linesPerSegment = 12] = given;
const HOUR = 'dt=2026-03-04/hour=05/';
const START = Date.parse('2026-03-04T05:00:00Z');
const NOW = START + 20 * 86_400_000;
const segments = Math.ceil(lines / linesPerSegment);
const writtenAt = (segment) => Math.floor(START + ((segment + 1) * 3_599_000) / segments);
const round = (value, digits = 0) => Number(value.toFixed(digits));

/** Segments by their number, as far as they are written, everything else in the folder. */
function computedStore(delay, written = () => segments) {
  const counts = {};
  const pathOf = (key) => join(folder, key);
  const call = async (operation) => {
    counts[operation] = (counts[operation] ?? 0) + 1;
    if (delay() > 0) await sleep(delay());
  };
  const nameOf = (segment) => `r~${String(segment + 1).padStart(8, '0')}.ndjson`;
  const segmentOf = (key) => Number(key.slice(key.indexOf('~') + 1, -'.ndjson'.length)) - 1;
  const timeOf = (key) => new Date(key.startsWith('ledger/') ? writtenAt(segmentOf(key)) : START);
  function bodyOf(key) {
    if (!key.startsWith('ledger/')) return existsSync(pathOf(key)) ? readFileSync(pathOf(key)) : null;
    const segment = segmentOf(key);
    if (segment >= written() || !key.startsWith(`ledger/${HOUR}`)) return null;
    const count = Math.min(linesPerSegment, lines - segment * linesPerSegment);
    const texts = Array.from({ length: count }, (_, index) =>
      JSON.stringify(exampleLine(segment * linesPerSegment + index, writtenAt(segment) - count + index)),
    );
    return Buffer.from(`${texts.join('\n')}\n`);
  }
  async function* list(prefix, { startAfter = '' } = {}) {
    if (!prefix.startsWith('ledger/')) {
      await call('list');
      const names = existsSync(pathOf(prefix)) ? readdirSync(pathOf(prefix)).sort() : [];
      for (const name of names) yield { key: prefix + name, size: 1, modifiedAt: new Date(START) };
      return;
    }
    const end = prefix === `ledger/${HOUR}` ? written() : 0;
    let [first, last] = [0, end];
    while (first < last) {
      const middle = (first + last) >> 1;
      if (prefix + nameOf(middle) > startAfter) last = middle;
      else first = middle + 1;
    }
    if (first >= end) await call('list');
    for (let segment = first; segment < end; segment += 1) {
      if ((segment - first) % 1000 === 0) await call('list');
      yield {
        key: prefix + nameOf(segment),
        size: linesPerSegment * 600,
        modifiedAt: new Date(writtenAt(segment)),
      };
    }
  }
  return {
    counts,
    partSize: 8 * 1024 * 1024,
    clockOffset: () => 0,
    list,
    async *folders(prefix) {
      await call('folders');
      const [root, day] = prefix.split('/');
      const exists = root === 'ledger' || (root === 'rollups' && existsSync(pathOf('rollups')));
      if (exists) yield day ? `${root}/${HOUR}` : `${root}/${HOUR.split('/')[0]}/`;
    },
    async head(key) {
      await call('head');
      const body = bodyOf(key);
      return body && { key, size: body.length, modifiedAt: timeOf(key) };
    },
    async read(key, range) {
      await call('read');
      const body = bodyOf(key);
      if (body === null) return null;
      const part = range ? body.subarray(range.start, range.end + 1) : body;
      return { info: { key, size: body.length, modifiedAt: timeOf(key) }, body: Readable.from([part]) };
    },
    async create(key, body) {
      mkdirSync(dirname(pathOf(key)), { recursive: true });
      writeFileSync(pathOf(key), body);
      return 'created';
    },
    async startUpload(key) {
      const parts = [];
      return {
        write: async (part) => parts.push(Buffer.from(part)),
        complete: () => this.create(key, Buffer.concat(parts)),
        abort: async () => {},
      };
    },
    async delete(key) {
      rmSync(pathOf(key), { force: true });
    },
  };
}

async function measure(name, store, work) {
  await sleep(100);
  global.gc?.();
  const rest = process.memoryUsage.rss();
  let peak = rest;
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 10);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const before = { ...store.counts };
  const began = performance.now();
  const page = await work();
  const seconds = (performance.now() - began) / 1000;
  delay.disable();
  clearInterval(sampling);
  const calls = Object.entries(store.counts).map(([operation, count]) => [
    operation,
    count - (before[operation] ?? 0),
  ]);
  console.log(
    JSON.stringify({
      hour: mode,
      asked: name,
      rows: page.deliveries.length,
      isEnd: page.nextCursor === null,
      searchedBackTo: page.searchedBackTo,
      seconds: round(seconds, 2),
      aboveRestMB: round((peak - rest) / 1e6),
      loopDelayMs: { p99: round(delay.percentile(99) / 1e6), max: round(delay.max / 1e6) },
      calls: Object.fromEntries(calls.filter(([, count]) => count > 0)),
    }),
  );
  return page;
}

/** A replica that serves throughout the hour, at its end. */
async function followHour() {
  let [minute, delay] = [0, 0];
  const store = computedStore(
    () => delay,
    () => Math.floor((minute * segments) / 60),
  );
  const view = createLedgerView({ store, clock: () => START + minute * 60_000 });
  for (; minute < 60; minute += 1) await view.refresh();
  await view.refresh();
  delay = storeMs;
  return { store, view };
}

async function openOldHour() {
  const store = computedStore(() => storeMs);
  const view = createLedgerView({ store, clock: () => NOW });
  await view.refresh();
  return { store, view };
}

async function look() {
  const { store, view } = await (mode === 'followed' ? followHour() : openOldHour());
  const until = new Date(START + 3_600_000).toISOString();
  const since = new Date(START).toISOString();
  const page = await measure('a page of 50', store, () => view.deliveries({ since, until, limit: 50 }));
  await measure('the next page', store, () =>
    view.deliveries({ since, until, limit: 50, cursor: page.nextCursor }),
  );
  for (const number of [lines - 5000, Math.floor(lines / 2)]) {
    const query = { since, until, job: `job${number}` };
    let found = await measure(`the lines of ${query.job}`, store, () => view.deliveries(query));
    let pages = 1;
    const began = performance.now();
    while (found.deliveries.length === 0 && found.nextCursor !== null) {
      pages += 1;
      found = await view.deliveries({ ...query, cursor: found.nextCursor });
    }
    const seconds = round((performance.now() - began) / 1000, 1);
    console.log(JSON.stringify({ hour: mode, asked: `${query.job}, until it is found`, pages, seconds }));
  }
  console.log(JSON.stringify({ hour: mode, peakRssMB: round(process.resourceUsage().maxRSS / 1000) }));
  await view.stop();
}

async function prepare() {
  const parts = { store: computedStore(() => 0), clock: () => NOW, keepSegments: null };
  const began = performance.now();
  await compactHour(parts, HOUR);
  console.log(
    JSON.stringify({ compactedLines: lines, seconds: round((performance.now() - began) / 1000, 1) }),
  );
}

if (mode === null) {
  const scratch = mkdtempSync(join(tmpdir(), 'history-'));
  const run = (step) => {
    const args = ['child', step, scratch, lines, storeMs, linesPerSegment].map(String);
    spawnSync(process.execPath, [...V8_FLAGS, fileURLToPath(import.meta.url), ...args], { stdio: 'inherit' });
  };
  try {
    for (const step of ['followed', 'open', 'prepare', 'compacted']) run(step);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
} else if (mode === 'prepare') await prepare();
else await look();
process.exit(0);

/**
 * The index of the ledger: lines a second into it on one core, bytes a line, and times of its questions.
 *
 *   npm run build && node bench/index.mjs [lines=1000000] [linesPerSegment=12]
 *
 * A line has a job of its own, a source, a context with a call of its own and one of 50 customers; one of a hundred fails. Goals: 30,000
 * lines a second, 250 bytes a line; 50 ms for a page, a job, causes and a context, 200 ms for charts, a second for a part of an id or a
 * context.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLedgerIndex } from '../dist/index/ledger-index.js';
import { exampleLine } from './lib/example-line.mjs';

const [lines = 1_000_000, linesPerSegment = 12] = process.argv.slice(2).map(Number);
const HOUR = 3_600_000;
const START = Date.parse('2026-03-01T00:00:00Z');
const DAYS = 30;
const END = START + DAYS * 24 * HOUR;
const BATCH = 256;

const folder = mkdtempSync(join(tmpdir(), 'bench-index-'));
const path = join(folder, 'index.sqlite');
const index = createLedgerIndex(path, 'bench');
const writtenAt = (line) => Math.floor(START + (line * DAYS * 24 * HOUR) / lines);

function lineAt(number) {
  const line = exampleLine(number, writtenAt(number) - 20);
  const context = { call: `call-${number.toString(36).padStart(12, '0')}`, customer: `c${number % 50}` };
  const source = `source${number % 4}`;
  if (number % 100 > 0) return { ...line, source, context };
  return { ...line, source, context, outcome: 'refused', reason: 'credential-rejected', items: [] };
}

function* segments() {
  const numbers = new Map();
  for (let first = 0; first < lines; first += linesPerSegment) {
    const written = writtenAt(first);
    const hour = Math.floor(written / HOUR) * HOUR;
    const number = (numbers.get(hour) ?? 0) + 1;
    numbers.clear();
    numbers.set(hour, number);
    const texts = Array.from({ length: linesPerSegment }, (_, at) => JSON.stringify(lineAt(first + at)));
    yield {
      hour,
      writer: '01K4EXAMPLE0000000000000000-replica',
      number,
      written,
      content: Buffer.from(`${texts.join('\n')}\n`),
    };
  }
}

let busy = 0;
let cpu = 0;
let kernel = 0;
let longest = 0;
let text = 0;
function apply(batch) {
  const began = performance.now();
  const before = process.cpuUsage();
  index.apply(batch);
  const { user, system } = process.cpuUsage(before);
  cpu += (user + system) / 1e6;
  kernel += system / 1e6;
  busy += performance.now() - began;
  longest = Math.max(longest, performance.now() - began);
}
let batch = [];
for (const segment of segments()) {
  text += segment.content.length;
  batch.push(segment);
  if (batch.length < BATCH) continue;
  apply(batch);
  batch = [];
}
apply(batch);
index.saveRange({ since: null, until: END });

const round = (value, digits = 1) => Number(value.toFixed(digits));
const size = ['', '-wal'].reduce((sum, end) => sum + statSync(path + end).size, 0);
const print = (name, value) => console.log(`${name.padEnd(44)} ${value}`);
print('lines a second', Math.round(lines / (busy / 1000)));
print(
  'lines a second of CPU',
  `${Math.round(lines / cpu)}, ${round((100 * kernel) / cpu)} % of it in the kernel`,
);
print('longest batch', `${round(longest)} ms`);
print('bytes a line, WAL included', round(size / lines));
print('text of a line', `${round(text / lines)} bytes`);
print('memory (RSS)', `${round(process.memoryUsage.rss() / 2 ** 20)} MiB`);

const middle = { written: writtenAt(lines / 2), writer: 'x', number: 1, line: 0 };
const job = exampleLine(Math.floor(lines / 3), 0).jobId;
const days = (number) => ({ since: END - number * 24 * HOUR, until: END });
const summed = ({ range, parts = { begin: range.since, width: 2 ** 52, count: 1 }, by = null, ...query }) => {
  const question = { range, parts, by, limit: 100, refusals: [], lastSince: END, ...query };
  const { buckets, groups } = index.summarise(question);
  return groups ?? buckets;
};
const questions = {
  'a page of 50': () => index.findLines({ limit: 51 }),
  'a page in the middle': () => index.findLines({ limit: 51, before: middle }),
  'a page of a rare outcome': () => index.findLines({ limit: 51, outcome: 'refused' }),
  'a page of a source, in a range': () =>
    index.findLines({
      limit: 51,
      source: 'source2',
      since: START + 10 * 24 * HOUR,
      until: START + 11 * 24 * HOUR,
    }),
  'a page for a token of one source': () => index.findLines({ limit: 51, scope: new Set(['source1']) }),
  'a job': () => index.findLines({ limit: 500, job }),
  'a context of one call': () =>
    index.findLines({ limit: 51, context: { name: 'call', value: 'call-000000000abc' } }),
  'a context of a customer': () => index.findLines({ limit: 51, context: { name: 'customer', value: 'c7' } }),
  'a page of failures, and their causes': () => index.failurePage({ limit: 50, after: null }).jobs,
  'all failing jobs': () => index.failingJobs({}).jobs,
  'a part of an id or a context': () =>
    index.matchJobs({ text: '9999', match: 'part', names: [], limit: 20 }),
  'figures of 30 days': () =>
    summed({ range: days(30), parts: { begin: days(30).since, width: 12 * HOUR, count: 60 } }),
  'figures of a day': () =>
    summed({ range: days(1), parts: { begin: days(1).since, width: HOUR / 4, count: 96 } }),
  'figures of the last day, undivided': () => summed({ range: days(1) }),
  'figures of 30 days by cause': () => summed({ range: days(30), by: 'cause' }),
  'figures of 30 days of a customer': () =>
    summed({ range: days(30), by: 'outcome', context: { name: 'customer', value: 'c7' } }),
  'figures of 7 days by customer': () => summed({ range: days(7), by: 'context.customer' }),
  'figures of 30 days by customer': () => summed({ range: days(30), by: 'context.customer' }),
  'figures of 30 days by call': () => summed({ range: days(30), by: 'context.call' }),
  'callbacks of the last hour and day': () => index.countCallbacks({ now: END }),
  state: () => index.state(),
};
for (const [name, ask] of Object.entries(questions)) {
  const times = Array.from({ length: 5 }, () => {
    const began = performance.now();
    const { length = 1 } = ask();
    return { time: performance.now() - began, length };
  });
  const [{ length }] = times;
  print(name, `${times.map(({ time }) => round(time, 2)).join('  ')} ms, ${length} rows`);
}
const steps = [];
index.deleteBefore(START + 24 * HOUR);
for (let isLeft = true; isLeft; ) {
  const began = performance.now();
  isLeft = index.deleteSome();
  steps.push(performance.now() - began);
}
const sum = steps.reduce((total, step) => total + step, 0);
print(
  'the oldest day deleted',
  `${round(sum)} ms in ${steps.length} steps, the longest ${round(Math.max(...steps))}`,
);
index.close();
rmSync(folder, { recursive: true });

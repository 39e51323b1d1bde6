/**
 * What an operator waits for: a receiver starts over a ledger of 100,000 deliveries; how long until the first page
 * stands, how long filters take, and what the health summary costs. Build first (npm run build).
 *
 *   node bench/admin-view.mjs [--lines 100000] [--per-segment 20] [--hours 48]
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ulid } from 'ulid';
import { V8_FLAGS } from '../scripts/v8-flags.mjs';

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '100000' },
    'per-segment': { type: 'string', default: '20' },
    hours: { type: 'string', default: '48' },
  },
});
const [lines, perSegment, hours] = [values.lines, values['per-segment'], values.hours].map(Number);
const TOKEN = 'token-of-the-benchmark';
const folder = mkdtempSync(join(tmpdir(), 'admin-view-'));
let receiver;

try {
  writeLedger();
  const started = performance.now();
  receiver = await startReceiver();
  console.log(`${lines} lines in segments of ${perSegment} over ${hours} hours`);
  console.log(`listening after           ${ms(performance.now() - started)}`);
  await timed('first page', '/deliveries?limit=50');
  await timed('health, first', '/health');
  const loading = performance.now();
  while ((await get('/health')).ledger.state !== 'ready') await new Promise((next) => setTimeout(next, 20));
  console.log(`whole ledger loaded after ${ms(performance.now() - loading)} more`);
  for (const query of QUERIES()) await timed(query.slice(0, 60), query);
  await timed('an older page, by time', `/deliveries?until=${at(lines / 2)}&limit=500`);
  await timed('charts', '/summary?buckets=96');
  await timed('health, again', '/health');
} finally {
  receiver?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}

function* QUERIES() {
  yield '/deliveries?limit=500';
  yield '/deliveries?outcome=quarantined&limit=50';
  yield '/deliveries?region=us1&status=error&limit=50';
  yield '/deliveries?job=job-77777';
  yield '/deliveries?job=nobody&outcome=failed';
}

function at(index) {
  return new Date(Date.now() - ((lines - index) / lines) * hours * 3_600_000).toISOString();
}

function writeLedger() {
  const segments = new Map();
  for (let index = 0; index < lines; index += 1) {
    const receivedAt = at(index);
    const partition = `ledger/dt=${receivedAt.slice(0, 10)}/hour=${receivedAt.slice(11, 13)}`;
    const segment = segments.get(partition) ?? [];
    segments.set(partition, segment);
    segment.push(line(index, receivedAt));
    if (segment.length === perSegment) flush(partition, segment, receivedAt);
  }
  for (const [partition, segment] of segments) flush(partition, segment, at(lines - 1));
}

function flush(partition, segment, writtenAt) {
  if (segment.length === 0) return;
  mkdirSync(join(folder, partition), { recursive: true });
  const texts = segment.splice(0).map((each) => `${JSON.stringify(each)}\n`);
  writeFileSync(join(folder, partition, `${ulid(Date.parse(writtenAt))}-bench.ndjson`), texts.join(''));
}

function line(index, receivedAt) {
  const pick = (list) => list[index % list.length];
  const key = `jobs/job-${index}/transcript.json`;
  return {
    v: 1,
    deliveryId: ulid(Date.parse(receivedAt)),
    receivedAt,
    origin: 'callback',
    source: pick(['default', 'team-a', 'team-b']),
    region: pick(['eu1', 'eu2', 'us1', 'us2', 'au1']),
    clientIp: '40.74.41.91',
    method: 'POST',
    jobId: `job-${index}`,
    status: index % 50 === 0 ? 'error' : 'success',
    credential: 'primary',
    outcome: index % 997 === 0 ? 'quarantined' : 'stored',
    reason: null,
    items: [{ kind: 'transcript.json-v2', key, size: 43_210, sha256: 'ab'.repeat(32), outcome: 'created' }],
    bytes: 43_500,
    durationMs: 5 + (index % 200),
    shape: { contentType: 'application/json', framing: 'sized' },
  };
}

async function startReceiver() {
  const settings = {
    receiver: { host: '127.0.0.1', port: 0 },
    admin: { host: '127.0.0.1', port: 0, tokens: { bench: TOKEN } },
    store: { url: `file:${folder}` },
    sources: { default: { allowUnauthenticated: true } },
  };
  const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
  const child = spawn(process.execPath, [...V8_FLAGS, main, 'serve'], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', NODE_CONFIG: JSON.stringify(settings) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const text of createInterface({ input: child.stdout })) {
    const entry = text.startsWith('{') ? JSON.parse(text) : {};
    if (entry.event !== 'listening') continue;
    child.adminUrl = entry.adminUrl;
    child.stdout.resume();
    return child;
  }
  throw new Error('the receiver ended');
}

async function get(path) {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const response = await fetch(`${receiver.adminUrl}/admin/api${path}`, { headers });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function timed(name, path) {
  const before = performance.now();
  await get(path);
  console.log(`${name.padEnd(60)} ${ms(performance.now() - before)}`);
}

function ms(duration) {
  return `${duration.toFixed(0)} ms`;
}

/**
 * How operators' reads of a large store slow down callbacks: one replica with the heap of the image's limit on a file store with many
 * quarantined bodies, dead events and replays gets callbacks at a steady rate, alone, and while clients request their lists, time out and
 * retry. Prints the outcomes of the reads, p50 and p99 of the callbacks, and the memory. Goals: alive, every read is answered with 200 or
 * 503, p99 at most doubled.
 *
 *   npm run build && node bench/operators-reads.mjs [--bodies 100000] [--events 50000] [--replays 10000] [--clients 20]
 *     [--give-up 30] [--rate 20] [--seconds 60] [--pause 1] [--equal] [--lines 1000000] [--main dist/main.js]
 *
 * A client polls at the interval of the page, or at `--pause` seconds.
 * With `--equal` all clients request the same page of the quarantine. With `--lines` the store has nothing but so many lines of the last
 * hour, and the clients send the page's requests to the ledger; the first row is during the build of the index.
 */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { decodeTime, encodeTime } from 'ulid';
import { hourAt } from '../dist/ledger/hours.js';
import { segmentKey } from '../dist/ledger/segment-key.js';
import { createFileStore } from '../dist/store/file/file-store.js';
import { V8_FLAGS } from '../scripts/v8-flags.mjs';
import { exampleLine } from './lib/example-line.mjs';
import { pathOf, peakRss, startServer, stopAll } from './lib/processes.mjs';
import { median } from './lib/report.mjs';
import { PATH } from './lib/targets.mjs';

const { values } = parseArgs({
  options: {
    bodies: { type: 'string', default: '100000' },
    events: { type: 'string', default: '50000' },
    replays: { type: 'string', default: '10000' },
    clients: { type: 'string', default: '20' },
    'give-up': { type: 'string', default: '30' },
    rate: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '60' },
    lines: { type: 'string', default: '0' },
    pause: { type: 'string' },
    equal: { type: 'boolean', default: false },
    main: { type: 'string', default: pathOf('../dist/main.js') },
  },
});
const number = (name) => Number(values[name]);
const [lines, clients, giveUp, rate, seconds] = ['lines', 'clients', 'give-up', 'rate', 'seconds'].map(
  number,
);
const [bodies, events, replays] = lines > 0 ? [0, 0, 0] : ['bodies', 'events', 'replays'].map(number);
const TOKEN = 'token-of-the-benchmark';
/** Megabytes of V8's old generation in the image's smallest container. */
const HEAP = 192;
const QUARANTINE = '/quarantine?limit=';
/** The page's requests, and the seconds between two of each. */
const REQUESTS =
  lines > 0
    ? [
        ['/deliveries?limit=', 3],
        ['/failures?limit=', 6],
        ['/deliveries?outcome=refused&limit=', 3],
        ['/deliveries?context=customer%3Dc7&limit=', 3],
        ['/deliveries?job=crowded&limit=', 3],
        ['/jobs/crowded', 8],
        ['/summary?by=cause&limit=', 10],
        ['/summary?by=context.customer&limit=', 60],
        ['/jobs?text=job9999', 30],
        ['/health', 4],
      ]
    : [
        [QUARANTINE, 6],
        ['/subscribers/crm/dead?limit=', 4],
        ['/replays?limit=', 3],
        ['/quarantine?state=all&limit=', 6],
      ];
const HOUR = 3_600_000;
const NOW = Date.now();
const scratch = mkdtempSync(join(tmpdir(), 'operators-reads-'));

try {
  const folder = join(scratch, 'data');
  const store = { url: `file:${folder}` };
  await fill(folder);
  // The rest must not be measured while the system still writes the fill, nor while the index reads it.
  execFileSync('sync');
  const receiver = await start(store);
  console.log(
    '| callbacks | number | p50 ms | p99 ms | max ms | p99, of that at rest | reads: 200, 503, given up, failed | 200 after: median, max |',
  );
  console.log('|---|---:|---:|---:|---:|---:|---|---|');
  if (lines > 0) await phase(receiver, 'while the index is built', null, 0);
  await waiting(receiver);
  const rest = await phase(receiver, 'at rest', null, 0);
  await phase(receiver, `beside ${clients} clients`, rest, clients);
  await phase(receiver, 'at rest again', rest, 0);
  console.log(
    `\nat most ${Math.round(peakRss(receiver.pid) / 1024 / 1024)} MB resident; ${await waiting(receiver)}`,
  );
  await receiver.stop();
} finally {
  await stopAll();
  rmSync(scratch, { recursive: true, force: true });
}

/** The n-th of `count` ids, spread over a week. */
function idOf(n, count) {
  const time = NOW - 7 * 86_400_000 + Math.floor((n * 7 * 86_400_000) / count);
  return `${encodeTime(time, 10)}${String(n).padStart(16, '0')}`;
}

/** Without fsync: the system writes all of it once, before anything is measured. */
async function fill(folder) {
  const opened = createFileStore({ directory: folder, partSize: 8 * 1024 * 1024, fsync: false });
  // The first write makes the folder a store.
  await opened.create('reports/bench.json', Buffer.from('{}'), {
    contentType: 'application/json',
    metadata: {},
  });
  const segments = { folder, store: opened, writing: pLimit(8) };
  await fillLedger(segments);
  await fillRecentLines(segments);
  fillFolders(folder);
  await opened.close();
}

/** Each segment with its metadata: a receiver looks up metadata that an object lacks. */
async function writeSegment({ folder, store, writing }, place, time, text) {
  const key = segmentKey(place);
  await writing(() =>
    store.create(key, Buffer.from(text), { contentType: 'application/x-ndjson', metadata: {} }),
  );
  utimesSync(join(folder, key), time / 1000, time / 1000);
}

function fillFolders(folder) {
  const put = (path, document) => writeFileSync(join(folder, path), JSON.stringify(document));
  for (let n = 0; n < bodies; n += 1) {
    const deliveryId = idOf(n, bodies);
    mkdirSync(join(folder, 'quarantine', deliveryId), { recursive: true });
    put(`quarantine/${deliveryId}/body`, 'broken');
    put(`quarantine/${deliveryId}/request.json`, requestOf(deliveryId, `job${n}`));
  }
  mkdirSync(join(folder, 'outbox/crm/dead'), { recursive: true });
  for (let n = 0; n < events; n += 1) {
    const id = idOf(n, events);
    put(`outbox/crm/dead/${id}.json`, deadEvent(id, `job${n}`));
  }
  mkdirSync(join(folder, 'replays'), { recursive: true });
  for (let n = 0; n < replays; n += 1) {
    const replayId = idOf(n, replays);
    mkdirSync(join(folder, 'replays', replayId));
    put(`replays/${replayId}/items.json`, { items: ['job1'] });
    put(`replays/${replayId}.json`, replayOf(replayId));
  }
}

/** The lines of the bodies, and of the attempts to send the events: a segment an hour. */
async function fillLedger(segments) {
  const ofBody = (deliveryId, n, receivedAt) => ({
    ...requestOf(deliveryId, `job${n}`),
    receivedAt,
    origin: 'callback',
    credential: null,
    outcome: 'quarantined',
    items: [],
    durationMs: 1,
    shape: null,
    wanted: ['transcript'],
  });
  const ofEvent = (event, n, at) => ({
    v: 1,
    event,
    jobId: `job${n}`,
    source: 'default',
    type: 'job.stored',
    at,
    status: 410,
    error: null,
    attempt: 1,
    ended: 'rejected',
    durationMs: 1,
    line: null,
  });
  await writeLines(segments, 'bench', bodies, ofBody);
  await writeLines(segments, 'crm/bench', events, ofEvent);
}

async function writeLines(segments, writer, count, lineOf) {
  const hours = new Map();
  for (let n = 0; n < count; n += 1) {
    const id = idOf(n, count);
    const time = decodeTime(id);
    const line = JSON.stringify(lineOf(id, n, new Date(time).toISOString()));
    const known = hours.get(hourAt(time));
    hours.set(hourAt(time), { time, text: `${known?.text ?? ''}${line}\n` });
  }
  for (const [hour, { time, text }] of hours)
    await writeSegment(segments, { hour, writer, number: 1 }, time, text);
}

/** Heavy lines of the last hour, a hundred to a segment; one in fifty is of one job, one in a hundred fails. */
async function fillRecentLines(segments) {
  const perSegment = 100;
  const written = [];
  let last = { hour: 0, number: 0 };
  for (let first = 0; first < lines; first += perSegment) {
    const time = Math.floor(NOW - HOUR + (first * (HOUR - 10_000)) / lines);
    const hour = hourAt(time);
    last = { hour, number: hour === last.hour ? last.number + 1 : 1 };
    const texts = Array.from({ length: perSegment }, (_, at) => JSON.stringify(heavyLine(first + at, time)));
    written.push(writeSegment(segments, { ...last, writer: 'bench' }, time, `${texts.join('\n')}\n`));
    // Some in flight; the text of all of them would be a gigabyte.
    if (written.length > 16) await written.shift();
  }
  await Promise.all(written);
}

function heavyLine(n, time) {
  const line = exampleLine(n, time - 50);
  const [item] = line.items;
  const jobId = n % 50 === 0 ? 'crowded' : line.jobId;
  const items = Array.from({ length: 4 }, (_, at) => ({ ...item, key: `jobs/${jobId}/attachments/${at}` }));
  const context = { call: `call-${n.toString(36).padStart(12, '0')}`, customer: `c${n % 50}` };
  const failed = n % 100 === 1 ? { outcome: 'refused', reason: 'credential-rejected' } : {};
  return { ...line, jobId, items: [item, ...items], context, ...failed };
}

function requestOf(deliveryId, jobId) {
  return {
    v: 1,
    deliveryId,
    receivedAt: new Date().toISOString(),
    source: 'default',
    region: null,
    clientIp: null,
    method: 'POST',
    jobId,
    status: 'success',
    query: `id=${jobId}&status=success`,
    headers: {},
    reason: 'json-invalid',
    detail: 'It was broken.',
    bytes: 8,
    sha256: '0'.repeat(64),
  };
}

function deadEvent(id, jobId) {
  const at = new Date().toISOString();
  const data = {
    jobId,
    source: 'default',
    region: null,
    status: 'success',
    origin: 'callback',
    outcome: 'stored',
  };
  const attempt = { at, status: 410, error: null, answer: 'gone' };
  return {
    v: 1,
    subscriber: 'crm',
    reason: 'rejected',
    endedAt: at,
    firstTriedAt: at,
    attempts: 1,
    history: [attempt],
    event: {
      specversion: '1.0',
      id,
      type: 'transcript-receiver.job.stored.v1',
      source: '/callbacks/default',
      subject: jobId,
      time: at,
      datacontenttype: 'application/json',
      data: { ...data, context: null, items: [] },
    },
  };
}

function replayOf(replayId) {
  const at = new Date().toISOString();
  return {
    v: 1,
    replayId,
    createdAt: at,
    actor: 'bench',
    reason: null,
    selector: { kind: 'refetch', jobs: ['job1'] },
    total: 1,
    bytes: 0,
    done: 1,
    failed: 0,
    outcomes: { matched: 1 },
    failures: [],
    waitingFor: null,
    owner: 'bench',
    heartbeatAt: null,
    finishedAt: at,
  };
}

function start(store) {
  const settings = {
    receiver: { host: '127.0.0.1', port: 0 },
    admin: { host: '127.0.0.1', port: 0, tokens: { bench: TOKEN } },
    sources: { default: { allowUnauthenticated: true, context: ['call', 'customer'] } },
    subscribers: {
      crm: { url: 'http://127.0.0.1:9/', secrets: [`whsec_${Buffer.alloc(32).toString('base64')}`] },
    },
    store,
  };
  return startServer({
    name: 'receiver',
    args: [...V8_FLAGS, `--max-old-space-size=${HEAP}`, resolve(values.main), 'serve'],
    // The index on disk, as the image and systemd have it: in memory it is bounded to 64 MiB.
    env: { NODE_CONFIG: JSON.stringify(settings), CACHE_DIRECTORY: join(scratch, 'cache') },
    logFile: join(scratch, 'receiver.log'),
    isReady: (line) => line.event === 'listening',
  });
}

async function phase(receiver, name, rest, number) {
  const generator = fork(pathOf('load/generator.mjs'));
  const group = {
    port: Number(new URL(receiver.said.receiverUrl).port),
    path: PATH,
    headers: {},
    idPrefix: `o${Date.now().toString(36)}`,
    connections: 16,
    perSecond: rate,
    body: { kind: 'transcript', bytes: 10_240 },
  };
  const stopReads = new AbortController();
  generator.send({ groups: [group], warmUpMs: 2000, measureMs: seconds * 1000 });
  await once(generator, 'message');
  const seen = { answered: [], refused: 0, givenUp: 0, failed: 0 };
  const clientsDone = Array.from({ length: number }, (_, n) => client(receiver, n, seen, stopReads.signal));
  const [{ results, message }] = await once(generator, 'message');
  stopReads.abort();
  await Promise.all(clientsDone);
  generator.disconnect();
  if (results === undefined) throw new Error(`the callbacks failed: ${message}`);
  const { p50, p99, max, count, statuses } = results[0];
  const bad = Object.keys(statuses).join() === '200' ? '' : ` ${JSON.stringify(statuses)}`;
  const times = [p50, p99, max].map((each) => each?.toFixed(0)).join(' | ');
  const { answered, refused, givenUp, failed } = seen;
  const took =
    answered.length === 0 ? '' : `${median(answered).toFixed(1)}, ${Math.max(...answered).toFixed(1)} s`;
  const ratio = rest === null ? '' : (p99 / rest).toFixed(2);
  const reads = number === 0 ? '' : `${answered.length}, ${refused}, ${givenUp}, ${failed}`;
  console.log(`| ${name}${bad} | ${count} | ${times} | ${ratio} | ${reads} | ${took} |`);
  return p99;
}

/** Polls with a timeout, as an open page does. */
async function client(receiver, n, seen, signal) {
  const [request, interval] = values.equal ? [QUARANTINE, 6] : REQUESTS[n % REQUESTS.length];
  // Another limit for each client, so that they share no read.
  const limit = 50 - (values.equal ? 0 : Math.floor(n / REQUESTS.length));
  const path = request.replace(/=$/, `=${limit}`);
  while (!signal.aborted) {
    const began = performance.now();
    const timeout = AbortSignal.timeout(giveUp * 1000);
    try {
      const response = await fetch(`${receiver.said.adminUrl}/admin/api${path}`, {
        headers: { authorization: `Bearer ${TOKEN}` },
        signal: AbortSignal.any([timeout, signal]),
      });
      const answer = await response.json();
      if (response.status === 200) seen.answered.push((performance.now() - began) / 1000);
      else if (response.status === 503 && response.headers.has('retry-after')) seen.refused += 1;
      else throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
      await sleep(Number(values.pause ?? interval) * 1000, null, { signal }).catch(() => undefined);
    } catch (error) {
      if (signal.aborted) return;
      if (timeout.aborted) seen.givenUp += 1;
      else {
        seen.failed += 1;
        if (seen.failed === 1) console.error(error);
        await sleep(1000);
      }
    }
  }
}

/** The quarantine in the health summary, once the index has all bodies. */
async function waiting(receiver) {
  const began = performance.now();
  for (;;) {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const response = await fetch(`${receiver.said.adminUrl}/admin/api/health`, { headers });
    const { quarantine, unknown, verdict } = await response.json();
    const { index } = verdict;
    const isRead = index.until !== null && (index.since === null || Date.parse(index.since) < NOW - HOUR);
    if (isRead && quarantine?.waiting === bodies)
      return `${quarantine.waiting} wait, known ${((performance.now() - began) / 1000).toFixed(0)} s later`;
    if (performance.now() - began > 120_000)
      return `the quarantine is ${quarantine?.waiting ?? unknown.quarantine?.reason}`;
    await sleep(2000);
  }
}

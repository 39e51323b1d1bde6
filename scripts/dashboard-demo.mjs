// A receiver with a day of made-up history, a simulated speech service and issues of every kind: for screenshots,
// and to look at the dashboard by hand (`node scripts/dashboard-demo.mjs`). Needs `npm run build`.
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { encodeTime } from 'ulid';
import { createService } from '../dist/app/service/create-service.js';
import { parseConfig } from '../dist/config/config.js';
import { createLogger } from '../dist/observe/logger.js';
import { createSimulator } from '../dist/simulator/simulator.js';

const HOUR = 3_600_000;
const CREDENTIAL = 'X-Callback-Token: a-token-for-demonstrations';
const TOKEN = 'a-token-to-look-around-with';

/** Starts it; `withIssues: false` leaves the issues out, `deliveries` is about how many the day has had. */
export async function startDemo({ withIssues = true, deliveries = 1900 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'transcript-receiver-demo-'));
  const now = Date.now();
  writeHistory(folder, now, withIssues, deliveries / 1900);
  if (deliveries > 0) writeReconcileReport(folder, now, withIssues);
  const simulator = await createSimulator({ seed: 'demonstration', timeScale: 0.001 });
  const config = demoConfig(folder, simulator, withIssues ? now + 9 * 24 * HOUR : null);
  const service = await createService({
    config,
    version: '0.1.0',
    adminTokens: config.admin.tokens,
    log: createLogger({ level: 'fatal', format: 'json', destination: { write() {} } }),
    onFatal: (error) => {
      throw error;
    },
  });
  const { publicUrl, adminUrl } = await service.start();
  const jobs = await sendJobs(simulator, publicUrl, withIssues);
  return {
    publicUrl,
    adminUrl,
    token: TOKEN,
    jobs,
    folder,
    async stop() {
      await service.stop();
      await simulator.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @param expires when the first credential does; null: never */
function demoConfig(folder, simulator, expires) {
  return parseConfig({
    receiver: { host: '127.0.0.1', port: 0, drainDelay: 0, drainDeadline: '2s' },
    admin: { host: '127.0.0.1', port: 0, tokens: { 'on-call': TOKEN } },
    store: { url: `file:${folder}` },
    replicaName: 'receiver-0',
    egress: { regions: { eu1: ['127.0.0.1'] } },
    sources: {
      default: {
        allow: ['eu1', 'us1', 'au1'],
        contents: ['transcript', 'data'],
        credentials: {
          primary: {
            headers: [CREDENTIAL],
            ...(expires !== null && { expires: new Date(expires).toISOString() }),
          },
          next: { headers: ['X-Callback-Token: the-token-that-comes-after'] },
        },
      },
    },
    // A run would replace the made-up report.
    recovery: { interval: 'off' },
    speech: {
      apiKey: simulator.apiKey,
      keysUrl: simulator.keysUrl,
      regions: Object.fromEntries(
        ['eu1', 'us1', 'au1'].map((name) => [name, { batchUrl: simulator.batchUrls[name] }]),
      ),
    },
  });
}

async function sendJobs(simulator, publicUrl, withIssues) {
  const url = `${publicUrl}/callbacks/default`;
  const submit = (contents, rest = {}) =>
    simulator.submit({
      region: 'eu1',
      config: {
        type: 'transcription',
        transcription_config: { language: 'en' },
        notification_config: [{ url, auth_headers: [CREDENTIAL], contents }],
      },
      ...rest,
    });
  const whole = submit(['transcript', 'transcript.txt', 'transcript.srt', 'data'], {
    mediaBytes: 700_000,
    dataName: 'weekly-call.wav',
  });
  simulator.faults.add({ kind: 'duplicate', jobId: whole.id });
  await whole.notified;
  if (!withIssues) return { whole: whole.id };
  await submit([], { outcome: 'fetch_error' }).notified;
  const query = `id=${whole.id}x&status=success`;
  const headers = { 'content-type': 'application/json', 'x-callback-token': 'a-token-for-demonstrations' };
  await fetch(`${url}?${query}`, { method: 'POST', headers, body: '{"format":"2.9","job":{"id":"' });
  await fetch(`${url}?id=unknown&status=success`, {
    method: 'POST',
    headers: { 'x-callback-token': 'guessing' },
  });
  for (const words of VERSIONS) {
    const body = JSON.stringify({ format: '2.9', metadata: {}, results: words.split(' ').map(wordAt) });
    await fetch(`${url}?id=${CONFLICTING}&status=success`, { method: 'POST', headers, body });
  }
  return { whole: whole.id, quarantined: `${whole.id}x` };
}

const CONFLICTING = 'k4m2p8x1';
const VERSIONS = [
  'Good morning everybody and thanks for coming. The order for the Leeds office went out on Monday, so they should have it by the end of the week. Sara has asked for fifteen more chairs, and the invoice goes to the usual address. Before we close I would like to hear how the trial in Porto went, and whether we should carry on with it in spring.',
  'Good morning everybody and thanks for coming. The order for the Leeds office went out on Tuesday, so they should have it by the end of the week. Sarah has asked for fifty more chairs, and the invoice goes to the usual address. Before we close I would like to hear how the trial in Porto went, and whether we should carry on with it next spring.',
];

function wordAt(content, index) {
  return {
    type: 'word',
    start_time: index * 0.4,
    end_time: index * 0.4 + 0.3,
    alternatives: [{ content, confidence: 0.9, speaker: 'S1' }],
  };
}

/** Ledger lines of the last day, busier by day than by night. */
function writeHistory(folder, now, withIssues, scale) {
  const random = seeded(7);
  const numbers = new Map();
  for (let quarter = 96; quarter > 0; quarter -= 1) {
    const start = now - quarter * (HOUR / 4);
    const wave = 16 * (1 + Math.sin((quarter / 96) * 2 * Math.PI)) * (0.7 + random() * 0.6);
    const busy = Math.round(scale * (4 + wave));
    const times = Array.from({ length: busy }, () => start + random() * (HOUR / 4 - 60_000));
    const lines = times.sort((a, b) => a - b).map((time) => madeUpLine(time, random, withIssues));
    if (lines.length === 0) continue;
    const writtenAt = new Date(start + HOUR / 4);
    const instant = writtenAt.toISOString();
    const hour = `dt=${instant.slice(0, 10)}/hour=${instant.slice(11, 13)}`;
    numbers.set(hour, (numbers.get(hour) ?? 0) + 1);
    const file = join(
      folder,
      'ledger',
      hour,
      `receiver-1~${String(numbers.get(hour)).padStart(8, '0')}.ndjson`,
    );
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    // Charts count a line when its segment was written.
    utimesSync(file, writtenAt, writtenAt);
  }
}

function madeUpLine(time, random, withIssues) {
  const dice = random();
  const jobId = `j${Math.floor(random() * 1e9).toString(36)}`;
  const outcome = outcomeFor(dice, withIssues);
  const recovered = ['recovered', 'failed', 'unrecoverable'].includes(outcome);
  const size = Math.round(4000 + random() * 60_000);
  return {
    v: 1,
    deliveryId: `${encodeTime(Math.round(time))}${String(Math.floor(random() * 1e15)).padStart(16, '0')}`,
    receivedAt: new Date(time).toISOString(),
    origin: recovered ? 'recovery' : 'callback',
    source: 'default',
    region: ['eu1', 'eu1', 'eu1', 'us1', 'us1', 'au1'][Math.floor(random() * 6)],
    clientIp: recovered ? null : '40.74.41.91',
    method: recovered ? null : 'POST',
    jobId,
    status: outcome === 'noted' ? 'fetch_error' : 'success',
    credential: recovered ? null : 'primary',
    outcome,
    reason: REASONS[outcome] ?? null,
    items: ['stored', 'recovered'].includes(outcome)
      ? [
          {
            kind: 'transcript.json-v2',
            key: `jobs/${jobId}/transcript.json`,
            size,
            sha256: '',
            outcome: 'created',
          },
        ]
      : [],
    bytes: outcome === 'noted' ? 0 : size,
    durationMs: Math.round(8 + random() ** 4 * 240),
    shape: null,
  };
}

const REASONS = {
  refused: 'body-too-large',
  failed: 'the service answered 503 to every attempt',
  unrecoverable: 'the service no longer keeps the results (410)',
};

function outcomeFor(dice, withIssues) {
  if (!withIssues) return dice < 0.06 ? 'duplicate' : 'stored';
  if (dice < 0.05) return 'duplicate';
  if (dice < 0.08) return 'noted';
  if (dice < 0.1) return 'recovered';
  if (dice < 0.1025) return 'refused';
  if (dice < 0.1045) return 'failed';
  return 'stored';
}

function writeReconcileReport(folder, now, withIssues) {
  const startedAt = new Date(now - 11 * 60_000).toISOString();
  const outcomes = {
    matched: 1846,
    recovered: 38,
    conflict: 0,
    pending: 2,
    unrecoverable: 0,
    failed: withIssues ? 3 : 0,
  };
  const report = {
    startedAt,
    finishedAt: new Date(now - 10 * 60_000).toISOString(),
    window: { since: new Date(now - 48 * HOUR).toISOString(), until: startedAt },
    outcomes,
    jobs: [],
    faults: [],
    ignored: 0,
  };
  const file = join(folder, 'reports', 'reconcile', `${startedAt.replaceAll(':', '-')}.json`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(report));
}

/** A small generator of its own, so that every run draws the same picture. */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { well: { type: 'boolean' }, deliveries: { type: 'string' } } });
  const demo = await startDemo({ withIssues: !values.well, deliveries: Number(values.deliveries ?? 1900) });
  console.log(`${demo.adminUrl}/#token=${demo.token}`);
  process.once('SIGINT', () => demo.stop());
}

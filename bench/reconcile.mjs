/**
 * Reconcile over a long job list: the real code, a service whose list is computed, and a store that computes its artefacts
 * and takes `storeMs` for every call.
 *
 *   npm run build && node bench/reconcile.mjs [jobs=100000] [jobsPerDay=1000000] [storeMs=30] [missingPerThousand=1]
 *
 * Three runs without options: the first, a second one at once, and a third an hour later with as many new jobs as an hour
 * brings. docs/recovery.md quotes the rate.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createArchive } from '../dist/archive/archive.js';
import { createLedger } from '../dist/ledger/write/ledger.js';
import { createBufferPool } from '../dist/lib/memory/buffer-pool.js';
import { ByteBudget } from '../dist/lib/memory/byte-budget.js';
import { reconcile } from '../dist/recovery/reconcile/reconcile.js';
import { createRetentionView } from '../dist/recovery/retention/retention-view.js';
import { createSpeechClients } from '../dist/speech/speech.js';
import { createMemoryStore } from './lib/memory-store.mjs';

const [jobs = 100_000, perDay = 1e6, storeMs = 30, missing = 1] = process.argv.slice(2).map(Number);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const MIB = 1024 * 1024;
const SERVICE_MS = 50;
const step = Math.max(1, Math.round(DAY / perDay));
const newJobs = Math.min(jobs, Math.round(HOUR / step));

/** A store with the artefacts of all jobs but some; other objects are kept in memory. */
function createStore() {
  const calls = {};
  const kept = createMemoryStore().open(storeMs, (call, key) => {
    const name = call === 'HEAD' && key.startsWith('jobs/') ? 'HEAD of artefacts' : call;
    calls[name] = (calls[name] ?? 0) + 1;
  });
  const isHere = (key) => {
    let sum = 0;
    for (let at = 5; at < key.length; at += 1) sum = (sum * 31 + key.charCodeAt(at)) >>> 0;
    return sum % 1000 >= missing;
  };
  return {
    ...kept,
    calls,
    async head(key) {
      const info = await kept.head(key);
      if (info !== null || !key.startsWith('jobs/') || !isHere(key)) return info;
      return { key, size: 10_240, modifiedAt: new Date(), contentType: 'application/json', metadata: {} };
    },
  };
}

/** An index without lines. */
const EMPTY_VIEW = {
  refresh: async () => {},
  reachBack: async () => Number.NEGATIVE_INFINITY,
  hasErased: async () => false,
  deliveries: async () => ({ deliveries: [], nextCursor: null }),
};

async function startService(count, newest) {
  const script = fileURLToPath(new URL('lib/computed-service.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, ...[count, step, newest, SERVICE_MS].map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const url = String(line).trim();
  return {
    url,
    count: async () => (await fetch(`${url}/count`)).json(),
    stop: async () => {
      child.kill();
      await once(child, 'exit');
    },
  };
}

async function run(name, store, count, now) {
  const service = await startService(count, now);
  const budget = new ByteBudget({ total: 64 * MIB, reserve: store.partSize });
  const pool = createBufferPool({ largest: store.partSize, maxBytes: 64 * MIB });
  const ledger = createLedger({ store, replica: 'bench' });
  const speech = createSpeechClients({ apiKey: 'bench', regions: { eu1: { batchUrl: service.url } } });
  for (const operation of Object.keys(store.calls)) delete store.calls[operation];
  let rss = 0;
  const watch = setInterval(() => (rss = Math.max(rss, process.memoryUsage().rss)), 100);
  const cpu = process.cpuUsage();
  const began = performance.now();
  let listed = 0;
  const report = await reconcile(
    {
      store,
      archive: createArchive(store, budget, pool),
      ledger,
      view: EMPTY_VIEW,
      speech,
      sources: { default: { contents: ['transcript'], keyPrefix: '' } },
      publicUrl: null,
      window: 48 * HOUR,
      grace: 10 * 60_000,
      concurrency: 4,
      retention: 7 * DAY,
      retentionWarning: 2 * DAY,
      retained: createRetentionView(store, {}, 7 * DAY),
      clock: () => now,
    },
    { onJob: () => (listed += 1) },
  );
  const seconds = (performance.now() - began) / 1000;
  clearInterval(watch);
  const { user, system } = process.cpuUsage(cpu);
  const requests = await service.count();
  await ledger.close();
  await speech.close();
  await service.stop();
  console.log(`${name}: ${count} jobs in the list`);
  console.log(`  ${seconds.toFixed(1)} s, ${listed} jobs listed, ${Math.round(listed / seconds)} a second`);
  console.log(
    `  CPU ${((user + system) / 1e6).toFixed(1)} s, resident memory at most ${Math.round(rss / MIB)} MB`,
  );
  console.log(`  requests to the service: ${JSON.stringify(requests)}`);
  console.log(`  calls to the store: ${JSON.stringify(store.calls)}`);
  console.log(`  ${JSON.stringify(report.outcomes)} faults: ${JSON.stringify(report.faults)}`);
}

const store = createStore();
const now = Date.now();
await run('first run', store, jobs, now);
await run('second run', store, jobs, now);
await run('an hour later', store, jobs + newJobs, now + newJobs * step);

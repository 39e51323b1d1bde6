/**
 * The store calls of an idle replica: calls a minute by operation, and their price a day on S3. Build first.
 *
 *   node bench/idle.mjs [minutes=20]
 *
 * Counts with the replica's own metric, from the second minute on. Listings of a quiet ledger are one page each.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { V8_FLAGS } from '../scripts/v8-flags.mjs';

const [minutes = 20] = process.argv.slice(2).map(Number);
/** Dollars per call, us-east-1. `prove` has none: a folder is asked each time, a bucket for each prefix once an hour. */
const PRICES = {
  create: 5e-6,
  replace: 5e-6,
  list: 5e-6,
  folders: 5e-6,
  sweepUploads: 5e-6,
  read: 4e-7,
  head: 4e-7,
};

const folder = mkdtempSync(join(tmpdir(), 'idle-'));
const settings = {
  receiver: { host: '127.0.0.1', port: 0, drainDelay: 0 },
  admin: { host: '127.0.0.1', port: 0, tokens: { bench: 'token-of-the-benchmark' } },
  store: { url: `file:${folder}` },
  sources: { default: { allowUnauthenticated: true } },
};
const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const receiver = spawn(process.execPath, [...V8_FLAGS, main, 'serve'], {
  env: { PATH: process.env.PATH, NODE_ENV: 'production', NODE_CONFIG: JSON.stringify(settings) },
  stdio: ['ignore', 'pipe', 'inherit'],
});

try {
  const { adminUrl, receiverUrl } = await listening();
  // One callback, so that the ledger has an hour.
  await fetch(`${receiverUrl}/callbacks/default?id=idle&status=success`, { method: 'POST' });
  await sleep(60_000);
  const before = await calls(adminUrl);
  await sleep(minutes * 60_000);
  const after = await calls(adminUrl);
  let total = 0;
  for (const [operation, count] of after) {
    const made = count - (before.get(operation) ?? 0);
    const cost = ((made * (PRICES[operation] ?? 0)) / minutes) * 1440;
    total += cost;
    if (made > 0)
      console.log(
        `${operation.padEnd(14)} ${(made / minutes).toFixed(2)} a minute   $${cost.toFixed(4)} a day`,
      );
  }
  console.log(`${'all'.padEnd(14)} $${total.toFixed(3)} a day, $${(total * 30).toFixed(2)} a month`);
} finally {
  receiver.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}

async function listening() {
  for await (const text of createInterface({ input: receiver.stdout })) {
    const entry = text.startsWith('{') ? JSON.parse(text) : {};
    if (entry.event !== 'listening') continue;
    receiver.stdout.resume();
    return entry;
  }
  throw new Error('the receiver ended');
}

/** Store calls so far, by operation. */
async function calls(adminUrl) {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const counts = new Map();
  for (const [, operation, count] of text.matchAll(/store_calls_total\{operation="(\w+)"[^}]*\} (\d+)/g)) {
    counts.set(operation, (counts.get(operation) ?? 0) + Number(count));
  }
  return counts;
}

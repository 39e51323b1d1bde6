/**
 * What connections cost that never say anything whole, and whether honest callbacks go on beside them:
 *
 *   npm run build && node bench/connections.mjs [connections=17000] [open files of the receiver=unchanged]
 *
 * Starts the receiver on a file store, opens the connections with half a head each, spread over loopback addresses, and
 * sends honest callbacks on new connections all the while. Prints resident memory, callbacks and their slowest answer.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { V8_FLAGS } from '../scripts/v8-flags.mjs';
import { rss } from './lib/processes.mjs';

const CONNECTIONS = Number(process.argv[2] ?? 17_000);
const OPEN_FILES = process.argv[3];
const TOKEN = 'connections-bench-connections-bench';
const HALF_HEAD = 'POST /callbacks/intake?id=x&status=success HTTP/1.1\r\nHost: receiver\r\nX-Half: ';
const MAIN = new URL('../dist/main.js', import.meta.url).pathname;

const folder = await mkdtemp(join(tmpdir(), 'connections-'));
const settings = {
  receiver: { host: '127.0.0.1', port: 0 },
  admin: { port: 0 },
  store: { url: `file:${folder}` },
  sources: { intake: { credentials: { main: { headers: [`X-Callback-Token: ${TOKEN}`] } } } },
  log: { level: 'warn' },
};
const limit = OPEN_FILES === undefined ? '' : `ulimit -n ${OPEN_FILES}; `;
const receiver = spawn('sh', ['-c', `${limit}exec "$0" "$@"`, process.execPath, ...V8_FLAGS, MAIN, 'serve'], {
  env: {
    ...process.env,
    NODE_ENV: 'production',
    NODE_CONFIG: JSON.stringify({ ...settings, log: { level: 'info' } }),
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
let logged = 0;
const listening = new Promise((resolve) => {
  createInterface({ input: receiver.stdout }).on('line', (line) => {
    const entry = JSON.parse(line);
    if (entry.event === 'listening') resolve(entry);
    if (entry.event.startsWith('connection')) logged += 1;
  });
});
const { receiverUrl, adminUrl } = await listening;
const { port } = new URL(receiverUrl);
while (!(await fetch(`${receiverUrl}/readyz`)).ok) await sleep(100);

const honest = { sent: 0, failed: 0, slowest: 0 };
let stopping = false;
function deliver() {
  const began = performance.now();
  honest.sent += 1;
  return new Promise((resolve) => {
    const outgoing = request(
      `http://127.0.0.1:${port}/callbacks/intake?id=honest${honest.sent}&status=success`,
      {
        method: 'POST',
        agent: false,
        headers: { 'X-Callback-Token': TOKEN, 'Content-Type': 'application/octet-stream' },
      },
      (answer) => {
        answer.resume();
        if (answer.statusCode !== 200) honest.failed += 1;
        answer.on('end', resolve);
      },
    );
    outgoing.on('error', () => {
      honest.failed += 1;
      resolve();
    });
    outgoing.end(Buffer.alloc(10_000));
  }).then(() => {
    honest.slowest = Math.max(honest.slowest, performance.now() - began);
  });
}
const honestly = (async () => {
  while (!stopping) {
    await deliver();
    await sleep(20);
  }
})();

await sleep(1000);
const before = rss(receiver.pid) / 1024 / 1024;
const sockets = [];
let largest = before;
for (let n = 0; n < CONNECTIONS; n += 1) {
  const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.0.${2 + (n % 4)}` });
  socket.on('error', () => {});
  socket.resume();
  sockets.push(socket);
  socket.write(HALF_HEAD);
  if (n % 50 !== 0) continue;
  await once(socket, 'connect').catch(() => {});
  if (n % 1000 === 0) largest = Math.max(largest, rss(receiver.pid) / 1024 / 1024);
}
for (let n = 0; n < 10; n += 1) {
  await sleep(500);
  largest = Math.max(largest, rss(receiver.pid) / 1024 / 1024);
}
stopping = true;
await honestly;
const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
const value = (name) => Number(new RegExp(`^${name}\\{port="public"\\} (\\d+)`, 'm').exec(metrics)[1]);
console.log({
  connections: CONNECTIONS,
  openNow: value('transcript_receiver_connections'),
  shed: value('transcript_receiver_connections_shed_total'),
  residentBeforeMiB: Math.round(before),
  largestResidentMiB: Math.round(largest),
  aboveRestMiB: Math.round(largest - before),
  honestCallbacks: honest.sent,
  honestFailed: honest.failed,
  slowestMs: Math.round(honest.slowest),
  logLines: logged,
});
for (const socket of sockets) socket.destroy();
receiver.kill('SIGKILL');
await once(receiver, 'exit');
await rm(folder, { recursive: true });

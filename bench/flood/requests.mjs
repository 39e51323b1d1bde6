// Requests that are sent without reading the answers, against the receiver and against Node's bare `http` server in turn.
// node bench/flood/requests.mjs [--connections 40,100,1000] [--kinds nope,healthz,...] [--seconds 20] [--heap 192|none] [--reconnect]
//                               [--targets receiver,http] [--port public|admin] [--tls]
// Prints for each how large the process became and how long honest callbacks waited beside it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { V8_FLAGS } from '../../scripts/v8-flags.mjs';
import { cpuMs, pathOf, peakRss, startServer, stopAll } from '../lib/processes.mjs';

const { values: options } = parseArgs({
  options: {
    connections: { type: 'string', default: '40,100,1000' },
    kinds: { type: 'string', default: 'nope,healthz,anonymous,authenticated' },
    targets: { type: 'string', default: 'http,receiver' },
    seconds: { type: 'string', default: '20' },
    heap: { type: 'string', default: '192' },
    port: { type: 'string', default: 'public' },
    reconnect: { type: 'boolean', default: false },
    tls: { type: 'boolean', default: false },
  },
});

const MB = 1024 * 1024;
const TOKEN = 'bench-token-of-twenty-chars';
const HONEST_EVERY = 250;
const GIVE_UP = 60_000;

const requestOf = (line, ...headers) => [line, 'Host: x', ...headers, '', ''].join('\r\n');
const get = (path, ...headers) => requestOf(`GET ${path} HTTP/1.1`, ...headers);
const [path, credential] =
  options.port === 'admin'
    ? ['/admin/api/explain', `Authorization: Bearer ${TOKEN}`]
    : ['/callbacks/guarded?id=flood&status=success', `X-Token: ${TOKEN}`];
const post = (...headers) => requestOf(`POST ${path} HTTP/1.1`, ...headers);
const chunked = post(credential, 'Transfer-Encoding: chunked');

/** What a connection sends once, and what it repeats without end. */
const KINDS = {
  nope: { text: get('/nope') },
  healthz: { text: get('/healthz') },
  anonymous: { text: `${post('Content-Length: 2')}{}` },
  authenticated: { text: `${post(credential, 'Content-Length: 2')}{}` },
  metrics: { text: get('/metrics') },
  health: { text: get('/admin/api/health', `Authorization: Bearer ${TOKEN}`) },
  silent: { text: '' },
  'half-heads': { first: 'POST /callbacks/guarded HTTP/1.1\r\nX-', text: '' },
  'half-bodies': { first: `${post(credential, 'Content-Length: 100000')}{`, text: '' },
  expect: { first: post(credential, 'Content-Length: 100000', 'Expect: 100-continue'), text: '' },
  heads: { text: get('/healthz', `X-Long: ${'x'.repeat(65_536)}`) },
  'chunk-sizes': { first: chunked, text: '0' },
  'chunk-extensions': { first: `${chunked}1`, text: ';name=value' },
  chunks: { first: chunked, text: '1\r\nx\r\n' },
  'anonymous-chunks': { first: post('Transfer-Encoding: chunked'), text: '1\r\nx\r\n' },
  trailers: { first: `${chunked}0\r\n`, text: 'X-Trailer: x\r\n' },
  upgrades: { text: get('/healthz', 'Connection: Upgrade', 'Upgrade: websocket') },
  'http/2': { text: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' },
  tls: { text: `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${'\x5a'.repeat(500)}` },
};

const heap = options.heap === 'none' ? [] : [`--max-old-space-size=${options.heap}`];
const scratch = mkdtempSync(join(tmpdir(), 'flood-'));

const TARGETS = {
  http: () =>
    startServer({
      name: 'http',
      args: [...V8_FLAGS, ...heap, pathOf('flood/bare-http.mjs')],
      env: { MALLOC_ARENA_MAX: '2' },
      logFile: join(scratch, 'http.log'),
    }),
  receiver: () =>
    startServer({
      name: 'receiver',
      args: [...V8_FLAGS, ...heap, pathOf('../dist/main.js'), 'serve'],
      env: {
        MALLOC_ARENA_MAX: '2',
        NODE_CONFIG: JSON.stringify({
          receiver: { host: '127.0.0.1', port: 0, drainDelay: 0 },
          admin: { host: '127.0.0.1', port: 0, tokens: { bench: TOKEN } },
          store: { url: `file:${mkdtempSync(join(scratch, 'store-'))}` },
          sources: { guarded: { credentials: { main: { headers: [`X-Token: ${TOKEN}`] } } } },
        }),
      },
      logFile: join(scratch, 'receiver.log'),
      isReady: ({ event }) => event === 'listening',
    }),
};

/** Milliseconds until an honest callback on a connection of its own is answered, and the status. */
function honestCallback(url, n) {
  const started = performance.now();
  return new Promise((resolve) => {
    const done = (status) => resolve({ status, ms: Math.round(performance.now() - started) });
    const sending = request(`${url}/callbacks/guarded?id=honest-${n}&status=success`, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', 'content-length': 2, 'x-token': TOKEN },
    });
    sending.setTimeout(GIVE_UP, () => sending.destroy(new Error('timeout')));
    sending.on('response', (response) => response.resume().on('end', () => done(response.statusCode)));
    sending.on('error', (error) => done(error.code ?? error.message));
    sending.end('{}');
  });
}

/** In front of the attack; honest callbacks go to the receiver itself. */
async function startTlsProxy(port) {
  const proxy = fork(pathOf('flood/tls-proxy.mjs'));
  proxy.send({ port });
  const [{ port: listening }] = await once(proxy, 'message');
  return { process: proxy, port: listening };
}

async function attack(target, kind, connections) {
  const server = await TARGETS[target]();
  const { receiverUrl, adminUrl } = server.said;
  await sleep(1500);
  for (let n = 0; n < 20; n += 1) await honestCallback(receiverUrl, `before-${n}`);
  const seconds = Number(options.seconds);
  const attacked = Number(new URL(options.port === 'admin' ? (adminUrl ?? receiverUrl) : receiverUrl).port);
  const proxy = options.tls ? await startTlsProxy(attacked) : null;
  const port = proxy?.port ?? attacked;
  const rest = peakRss(server.pid);
  const cpu = cpuMs(server.pid);
  const sender = fork(pathOf('flood/sender.mjs'));
  const reported = once(sender, 'message');
  sender.send({ port, connections, ...KINDS[kind], seconds, reconnect: options.reconnect, tls: options.tls });
  const isAlive = () => server.child.exitCode === null && server.child.signalCode === null;
  const honest = [];
  let peak = rest;
  let spent = 0;
  const ends = performance.now() + seconds * 1000;
  for (let n = 0; performance.now() < ends && isAlive(); n += 1) {
    peak = Math.max(peak, peakRss(server.pid));
    spent = cpuMs(server.pid) - cpu;
    honest.push(honestCallback(receiverUrl, n));
    await sleep(HONEST_EVERY);
  }
  const [sent] = await reported;
  const answers = await Promise.all(honest);
  const alive = isAlive();
  proxy?.process.kill();
  await server.stop();
  const statuses = {};
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  return {
    target,
    kind,
    connections,
    alive,
    restMB: Math.round(rest / MB),
    peakMB: Math.round(peak / MB),
    honestSlowestMs: Math.max(...answers.map(({ ms }) => ms)),
    statuses,
    cpuSeconds: spent / 1000,
    sentMB: Math.round(sent.bytes / MB),
    opened: sent.opened,
    open: sent.open,
  };
}

try {
  console.log(
    JSON.stringify({ node: process.version, heap: options.heap, port: options.port, tls: options.tls }),
  );
  for (const kind of options.kinds.split(',')) {
    for (const connections of options.connections.split(',').map(Number)) {
      for (const target of options.targets.split(',')) {
        console.log(JSON.stringify(await attack(target, kind, connections)));
      }
    }
  }
} finally {
  await stopAll();
  rmSync(scratch, { recursive: true, force: true });
}

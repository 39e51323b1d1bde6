/**
 * What one subscriber costs: the real outbox over a store in memory that takes `storeMs` for every call, fed by the real
 * group commit, beside the same feed without a subscriber. The subscriber is a process of its own that answers 204 at once.
 *
 *   npm run build && node bench/outbox.mjs [rate=1000] [seconds=20] [storeMs=30] [maxLinger=0] [replicas=1] [behind=0]
 *
 * Lag is the time from the line's `receivedAt` to its event's arrival. `replicas` write the ledger, all in this process. With
 * rate 0 it measures an idle sender, and another replica that waits to take over. With `behind` it measures how a subscriber
 * with a backlog of so many lines catches up, in segments of a hundred, by fifths. docs/scale.md quotes the figures.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { hourAt } from '../dist/ledger/hours.js';
import { segmentKey } from '../dist/ledger/segment-key.js';
import { createLedger } from '../dist/ledger/write/ledger.js';
import { createOutbox } from '../dist/subscribers/outbox.js';
import { newOutboxState } from '../dist/subscribers/outbox-state.js';
import { V8_FLAGS } from '../scripts/v8-flags.mjs';
import { exampleLine } from './lib/example-line.mjs';
import { createMemoryStore } from './lib/memory-store.mjs';

const OPTIONS = { rate: 1000, seconds: 20, storeMs: 30, maxLinger: 0, replicas: 1, behind: 0 };
const WARM_UP = 3;
/** The defaults of `limits.maxConcurrentDeliveries` / 2, and of `limits.totalTimeout` with five minutes more. */
const FULL_SEGMENT = 128;
/** Dollars per call, us-east-1. */
const PRICES = { PUT: 5e-6, LIST: 5e-6, GET: 4e-7, HEAD: 4e-7, DELETE: 0 };
const SECRET = `whsec_${Buffer.alloc(32, 'benchmark').toString('base64')}`;

/** What a call is for, by its key. */
function kindOf(call, key) {
  if (call === 'PUT' && key.startsWith('ledger/')) return 'PUT segment (feed)';
  if (key.startsWith('ledger/')) return `${call} ${call === 'GET' ? 'segment' : 'segments'}`;
  if (key.startsWith('ledger-hours/')) return `${call} merged hours`;
  if (key.endsWith('state.json')) return `${call} state`;
  return key.includes('/claim-') ? `${call} claim` : `${call} other`;
}

async function serveSubscriber() {
  /** Both are kept from the first message on: catching up needs neither, and ten million ids would fill the heap. */
  let lags = null;
  let ids = null;
  const server = createServer(async (request, response) => {
    const { id, time } = JSON.parse(await buffer(request));
    lags?.push(Date.now() - Date.parse(time));
    ids?.add(id);
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
  process.on('message', (message) => {
    if (message === 'report') process.send({ lags, events: ids.size });
    lags = [];
    ids = new Set();
  });
}

const NO_EVENTS = { sent() {}, dead() {}, breaker() {} };

function openOutbox(store, owner, url, onSent) {
  let started;
  const isSending = new Promise((resolve) => {
    started = resolve;
  });
  const outbox = createOutbox({
    store,
    owner,
    stopWithin: 3_000,
    isErased: async () => false,
    subscribers: {
      bench: {
        url,
        secrets: [SECRET],
        format: 'cloudevents',
        events: ['job.stored'],
        sources: [],
        maxInFlight: 8,
      },
    },
    observer: {
      events: () => ({ ...NO_EVENTS, sent: onSent }),
      delayed: (_subscriber, error) => console.error(error),
      sending: started,
    },
  });
  outbox.start();
  return { outbox, isSending };
}

const LINES_PER_SEGMENT = 100;

/** Sends a backlog in whole hours, and reports time and memory to the parent. */
async function catchUp(url) {
  const { storeMs, behind } = OPTIONS;
  const memory = createMemoryStore();
  const filling = memory.open(0, () => {});
  const time = Date.now() - 4 * 3_600_000;
  const hour = hourAt(time);
  for (let first = 0, number = 1; first < behind; first += LINES_PER_SEGMENT, number += 1) {
    const lines = Array.from({ length: LINES_PER_SEGMENT }, (_, n) =>
      JSON.stringify(exampleLine(first + n, time)),
    );
    await filling.create(segmentKey({ hour, writer: 'bench', number }), Buffer.from(`${lines.join('\n')}\n`));
  }
  const state = newOutboxState(time - 3_600_000, {
    before: { written: time - 3_600_000, id: '', outcome: '' },
    hours: {},
    again: {},
  });
  await filling.replace('outbox/bench/state.json', Buffer.from(JSON.stringify(state)));
  global.gc?.();
  const rest = process.memoryUsage.rss();
  const cpu = process.cpuUsage();
  const began = performance.now();
  let sent = 0;
  let peak = rest;
  /** Seconds and memory of each fifth of the lines: both stay the same, however far it is behind. */
  const fifths = [];
  const sampler = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
    if (sent < ((fifths.length + 1) * behind) / 5) return;
    const seconds = (performance.now() - began) / 1000 - fifths.reduce((sum, each) => sum + each.seconds, 0);
    fifths.push({ seconds, above: process.memoryUsage.rss() - rest });
  }, 50);
  const store = memory.open(storeMs, () => {});
  const { outbox } = openOutbox(store, 'sender', url, () => {
    sent += 1;
  });
  while (fifths.length < 5) await sleep(20);
  clearInterval(sampler);
  const { user, system } = process.cpuUsage(cpu);
  process.send({
    seconds: (performance.now() - began) / 1000,
    cpuMs: (user + system) / 1000,
    above: peak - rest,
    fifths,
  });
  await outbox.stop();
  process.exit();
}

/** Feeds a ledger, with the outbox of a subscriber or without one, and sends what it cost to the parent. */
async function feed(url) {
  const { rate, seconds, storeMs, maxLinger, replicas } = OPTIONS;
  let calls = {};
  let waitingCalls = {};
  const count = (name) => (call, key) => {
    const kind = kindOf(call, key);
    const counted = name === 'own' ? calls : waitingCalls;
    counted[kind] = (counted[kind] ?? 0) + 1;
  };
  const memory = createMemoryStore();
  const store = memory.open(storeMs, count('own'));
  let sent = 0;
  const outboxes = [];
  if (url !== '') {
    const sender = openOutbox(store, 'sender', url, () => {
      sent += 1;
    });
    await sender.isSending;
    outboxes.push(sender.outbox);
    if (rate === 0)
      outboxes.push(openOutbox(memory.open(storeMs, count('waiting')), 'waiting', url, () => {}).outbox);
  }
  const ledgers = Array.from({ length: replicas }, (_, n) =>
    createLedger({
      store,
      replica: `bench-${n}`,
      maxLinger,
      fullSegment: FULL_SEGMENT,
      onSegment: [() => outboxes[0]?.wake()],
    }),
  );

  let fed = 0;
  let next = 0;
  let peak = 0;
  const began = performance.now();
  async function feedUntil(end) {
    while (performance.now() - began < end) {
      const elapsed = performance.now() - began;
      for (; rate > 0 && next <= elapsed; next += (-Math.log(1 - Math.random()) * 1000) / rate) {
        ledgers[fed % replicas].append(exampleLine(fed, Date.now()));
        fed += 1;
      }
      await sleep(Math.max(1, Math.min(rate > 0 ? next : end, end) - elapsed));
    }
  }
  const sampler = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 100);

  await feedUntil(WARM_UP * 1000);
  [calls, waitingCalls] = [{}, {}];
  const fedBefore = fed;
  const sentBefore = sent;
  process.send({ warm: true });
  const cpu = process.cpuUsage();
  await feedUntil((WARM_UP + seconds) * 1000);
  const { user, system } = process.cpuUsage(cpu);
  const measured = {
    calls,
    waitingCalls,
    cpuMs: (user + system) / 1000,
    peak,
    lines: fed - fedBefore,
    events: sent - sentBefore,
    behind: fed - sent,
  };

  const ended = performance.now();
  if (url !== '') while (sent < fed && performance.now() - ended < 30_000) await sleep(20);
  clearInterval(sampler);
  process.send({ ...measured, unsent: fed - sent, caughtUpMs: performance.now() - ended });
  await Promise.all([...ledgers.map((ledger) => ledger.close()), ...outboxes.map((each) => each.stop())]);
  process.disconnect();
}

function start(...args) {
  const execArgv = [...V8_FLAGS, '--max-old-space-size=192'];
  const child = fork(fileURLToPath(import.meta.url), args, { execArgv });
  child.on('exit', (code) => {
    if (code) process.exit(code);
  });
  return child;
}

const message = async (child) => (await once(child, 'message'))[0];

async function measure(url, subscriber) {
  const child = start('feed', JSON.stringify(OPTIONS), url);
  await message(child);
  subscriber?.send('reset');
  const result = await message(child);
  await once(child, 'exit');
  return result;
}

function report(without, withOne, { lags, events }) {
  const { rate, seconds, storeMs, maxLinger, replicas } = OPTIONS;
  const perEvent = (value) => (value / Math.max(1, withOne.events)).toFixed(3);
  const mib = (size) => `${Math.round(size / 2 ** 20)} MiB`;
  const sorted = lags.sort((a, b) => a - b);
  const quantile = (share) => sorted[Math.floor((sorted.length - 1) * share)];
  console.log(
    `${rate} lines a second for ${seconds} s, ${replicas} writing, maxLinger ${maxLinger} ms, ${storeMs} ms for a store call\n`,
  );
  if (rate > 0) {
    console.log(`lag: p50 ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms, longest ${quantile(1)} ms`);
    console.log(
      `events: ${withOne.events} in the time; ${events} arrived, ${lags.length - events} of them twice; ` +
        `${withOne.behind} behind at its end, ${withOne.unsent} after ${(withOne.caughtUpMs / 1000).toFixed(1)} s more`,
    );
    console.log('\n| | without a subscriber | with it | for an event |');
    console.log('|---|---:|---:|---:|');
    const cpu = withOne.cpuMs - (without.cpuMs * withOne.lines) / without.lines;
    console.log(
      `| CPU | ${without.cpuMs.toFixed(0)} ms | ${withOne.cpuMs.toFixed(0)} ms | ${perEvent(cpu)} ms |`,
    );
    console.log(`| resident memory, at most | ${mib(without.peak)} | ${mib(withOne.peak)} | |`);
    const kinds = new Set([...Object.keys(without.calls), ...Object.keys(withOne.calls)]);
    for (const kind of [...kinds].sort()) {
      const before = without.calls[kind] ?? 0;
      const after = withOne.calls[kind] ?? 0;
      console.log(`| ${kind} | ${before} | ${after} | ${perEvent(after)} |`);
    }
  } else {
    console.log(`CPU ${((withOne.cpuMs * 60) / seconds).toFixed(0)} ms a minute of both replicas\n`);
    showCalls('the replica that sends', withOne.calls, seconds);
    showCalls('a replica that waits', withOne.waitingCalls, seconds);
  }
}

function showCalls(title, calls, seconds) {
  let total = 0;
  for (const [kind, count] of Object.entries(calls).sort()) {
    const cost = (count / seconds) * 86_400 * PRICES[kind.split(' ')[0]];
    total += cost;
    console.log(
      `${title}: ${kind.padEnd(14)} ${((count * 60) / seconds).toFixed(2)} a minute   $${cost.toFixed(4)} a day`,
    );
  }
  console.log(`${title}: ${'all'.padEnd(14)} $${total.toFixed(3)} a day\n`);
}

const [role, options, url] = process.argv.slice(2);
if (role === 'subscriber') await serveSubscriber();
else if (role === 'feed') {
  Object.assign(OPTIONS, JSON.parse(options));
  await (OPTIONS.behind > 0 ? catchUp(url) : feed(url));
} else {
  for (const [index, name] of Object.keys(OPTIONS).entries()) {
    const given = process.argv[2 + index];
    if (given !== undefined) OPTIONS[name] = Number(given);
  }
  const subscriber = start('subscriber');
  const { port } = await message(subscriber);
  if (OPTIONS.behind > 0) {
    const child = start('feed', JSON.stringify(OPTIONS), `http://127.0.0.1:${port}/`);
    const { seconds, cpuMs, above, fifths } = await message(child);
    console.log(
      `${OPTIONS.behind} lines behind, ${OPTIONS.storeMs} ms for a store call: sent in ${seconds.toFixed(1)} s, ` +
        `CPU ${(cpuMs / 1000).toFixed(1)} s, at most ${Math.round(above / 2 ** 20)} MiB above rest`,
    );
    for (const fifth of fifths)
      console.log(
        `a fifth: ${Math.round(OPTIONS.behind / 5 / fifth.seconds)} a second, ${Math.round(fifth.above / 2 ** 20)} MiB above rest`,
      );
    subscriber.kill();
    process.exit();
  }
  const without = OPTIONS.rate > 0 ? await measure('') : null;
  const withOne = await measure(`http://127.0.0.1:${port}/`, subscriber);
  subscriber.send('report');
  report(without, withOne, await message(subscriber));
  subscriber.kill();
}

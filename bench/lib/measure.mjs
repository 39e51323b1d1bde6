import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMs, pathOf, peakRss } from './processes.mjs';
import { PATH, TARGETS } from './targets.mjs';

let serial = 0;

/** For job ids that were not sent before. */
function newPrefix() {
  serial += 1;
  return `b${serial}x${Date.now().toString(36)}`;
}

/** A contestant that runs until `stop`, so that it can be measured again and again, in turn with others. */
export async function startContestant({ scenario, name, store, scratch, node, profile }) {
  const target = TARGETS[name];
  const server = await target.start({
    store,
    scratch,
    node,
    profile: name.startsWith('product') ? profile : null,
  });
  const ownPrefix = newPrefix();
  return {
    stop: () => server.stop(),
    measure(seconds, leadInMs) {
      if (target.alone) return measureAlone(scenario, target, server, seconds);
      const idPrefix = scenario.distinct ? ownPrefix : newPrefix();
      const groups = groupsOf(scenario, name, target, server.port, idPrefix);
      return measureServed(scenario, server, store, { groups, seconds, leadInMs });
    },
  };
}

const SLICE_SECONDS = 3;
const MAX_SLICES = 5;
/** Node 24 optimises most functions when they have run some 10,000 times; the CPU of a callback can settle before that, too. */
const MIN_CALLBACKS = 16_000;

/** Loads a contestant with enough callbacks, and until the CPU that each takes does not fall by 2 % from one slice of time to the next. */
export async function warmUp(contestant) {
  let least = Number.POSITIVE_INFINITY;
  let callbacks = 0;
  let falls = true;
  for (let slice = 0; slice < MAX_SLICES && (falls || callbacks < MIN_CALLBACKS); slice += 1) {
    const { cpuMs, perSecond } = await contestant.measure(SLICE_SECONDS, 300);
    callbacks += perSecond * SLICE_SECONDS;
    falls = cpuMs < least * 0.98;
    least = Math.min(least, cpuMs);
  }
}

function groupsOf(scenario, name, target, port, idPrefix) {
  const common = { port, path: target.path ?? PATH, headers: { ...target.headers }, idPrefix };
  if (name === 'tus')
    Object.assign(common.headers, { 'Tus-Resumable': '1.0.0', 'Upload-Length': scenario.bytes });
  if (scenario.kind === 'flood') {
    const body = { kind: 'transcript', bytes: scenario.bytes };
    return [
      { ...common, headers: {}, connections: 48, body },
      { ...common, connections: 4, body },
    ];
  }
  const { connections, count, distinct, bytes } = scenario;
  return [{ ...common, connections, count, distinct, body: { kind: scenario.body(name), bytes } }];
}

async function measureServed(scenario, server, store, { groups, seconds, leadInMs }) {
  const isTimed = scenario.kind !== 'large';
  if (scenario.kind === 'flood') {
    // The good callbacks alone first: what the flood costs them is the ratio.
    server.quiet = (await generate({ groups: [groups[1]], warmUpMs: 700, measureMs: 1500 }, () => {}))[0];
    groups[1] = { ...groups[1], idPrefix: `${groups[1].idPrefix}q` };
  }
  let before = null;
  const order = { groups, warmUpMs: isTimed ? leadInMs : 0, measureMs: isTimed ? seconds * 1000 : null };
  const began = async () => {
    before = { cpu: cpuMs(server.pid), store: await store.counts() };
  };
  const results = await generate(order, began);
  const after = { cpu: cpuMs(server.pid), store: await store.counts(), rss: peakRss(server.pid) };
  const [main, good] = results;
  const total = results.reduce((sum, { count }) => sum + count, 0);
  return {
    perSecond: main.count / main.seconds,
    p50: main.p50,
    p99: main.p99,
    megabytesPerSecond: main.bytes / 1e6 / main.seconds,
    cpuMs: (after.cpu - before.cpu) / total,
    cpuSeconds: (after.cpu - before.cpu) / 1000,
    writes: writes(before.store, after.store) === null ? null : writes(before.store, after.store) / total,
    peakRss: after.rss,
    statuses: main.statuses,
    ...(good ? { goodP99: good.p99, quietP99: server.quiet.p99, goodStatuses: good.statuses } : {}),
  };
}

function writes(before, after) {
  if (before === null || after === null) return null;
  return after.puts.artefact + after.puts.ledger - before.puts.artefact - before.puts.ledger;
}

async function measureAlone(scenario, target, server, seconds) {
  const order = { mode: target.alone, bytes: scenario.bytes, connections: scenario.connections, seconds };
  const cpu = cpuMs(server.pid);
  const result = await run(server.port, order);
  const spent = cpuMs(server.pid) - cpu;
  return {
    perSecond: result.count / result.seconds,
    p50: result.p50 ?? null,
    p99: result.p99 ?? null,
    megabytesPerSecond: (result.bytes ?? result.count * scenario.bytes) / 1e6 / result.seconds,
    cpuMs: spent / result.count,
    cpuSeconds: spent / 1000,
    writes: null,
    peakRss: peakRss(server.pid),
    statuses: {},
  };
}

async function run(port, order) {
  const response = await fetch(`http://127.0.0.1:${port}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

export async function generate(order, onMeasuring) {
  const child = fork(pathOf('load/generator.mjs'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const gone = once(child, 'exit');
  try {
    child.send(order);
    let reading = Promise.resolve();
    for (;;) {
      const [message] = await Promise.race([
        once(child, 'message'),
        gone.then(() => [{ kind: 'failed', message: 'the load generator died' }]),
      ]);
      if (message.kind === 'measuring') reading = onMeasuring();
      if (message.kind === 'failed') throw new Error(message.message);
      if (message.kind === 'done') {
        await reading;
        return message.results;
      }
    }
  } finally {
    child.disconnect();
    await Promise.race([gone, sleep(2000)]);
  }
}

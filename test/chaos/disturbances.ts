import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultProxy, ProxyFault } from '../support/fault-proxy.js';
import type { Random } from '../support/random.js';
import type { Replica } from './replica.js';

/** What can be broken, and how it is put right again. */
export interface Surroundings {
  readonly replicas: readonly Replica[];
  /** Between senders and each replica. */
  readonly senderProxies: readonly FaultProxy[];
  /** Between replicas and the store; none with a store of files. */
  readonly storeProxies: readonly FaultProxy[];
  /** Fills the disk, and frees it; null where that cannot be done. */
  readonly disk: { fill(): Promise<void>; free(): Promise<void> } | null;
  setClock(shiftMs: number): Promise<void>;
  /** Largest shift of the clock that the store bears. */
  readonly clockRangeMs: number;
  /** Sends many large bodies at once. */
  burst(): Promise<void>;
}

type Disturbance = (random: Random, around: Surroundings) => Promise<void>;

/** Draws what is disturbed, when and for how long, until the time is up; then everything is right again. */
export async function disturb(
  random: Random,
  around: Surroundings,
  until: number,
  counts: Map<string, number>,
): Promise<void> {
  const possible = Object.entries(DISTURBANCES).filter(([name]) => isPossible(name, around));
  while (performance.now() < until) {
    const [name, run] = random.pick(possible as [(typeof possible)[number], ...typeof possible]);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    await run(random, around);
    await sleep(random.whole(50, 1_500));
  }
}

function isPossible(name: string, around: Surroundings): boolean {
  if (name.startsWith('store:')) return around.storeProxies.length > 0;
  return name !== 'disk full' || around.disk !== null;
}

const DISTURBANCES: Readonly<Record<string, Disturbance>> = {
  async 'kill -9'(random, { replicas }) {
    const replica = oneOf(random, replicas);
    await replica.end('SIGKILL');
    await sleep(random.whole(0, 800));
    await replica.start();
  },
  async 'kill -9 all'(_random, { replicas }) {
    await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
    await Promise.all(replicas.map((replica) => replica.start()));
  },
  async SIGTERM(random, { replicas }) {
    const replica = oneOf(random, replicas);
    await replica.end('SIGTERM');
    await replica.start();
  },
  async 'frozen process'(random, { replicas }) {
    const replica = oneOf(random, replicas);
    replica.signal('SIGSTOP');
    await sleep(random.whole(300, 3_000));
    replica.signal('SIGCONT');
  },
  'senders: bad network': (random, { senderProxies }) => faulty(random, senderProxies, SENDER_FAULTS),
  'store: errors': (random, { storeProxies }) => faulty(random, storeProxies, STORE_ERRORS),
  'store: bad network': (random, { storeProxies }) => faulty(random, storeProxies, STORE_NETWORK),
  'store: lost answers': (random, { storeProxies }) =>
    faulty(random, storeProxies, () => ({ kind: 'loseAnswer' })),
  async 'store: down'(random, { storeProxies }) {
    await Promise.all(storeProxies.map((proxy) => proxy.refuse()));
    await sleep(random.whole(300, 3_000));
    await Promise.all(storeProxies.map((proxy) => proxy.accept()));
  },
  async 'disk full'(random, { disk }) {
    await disk?.fill();
    await sleep(random.whole(500, 3_000));
    await disk?.free();
  },
  async 'clock step'(random, around) {
    await around.setClock(random.whole(-around.clockRangeMs, around.clockRangeMs));
    await sleep(random.whole(500, 4_000));
    if (random.chance(0.5)) await around.setClock(0);
  },
  'memory pressure': (_random, around) => around.burst(),
};

function oneOf(random: Random, replicas: readonly Replica[]): Replica {
  const replica = replicas[random.whole(0, replicas.length - 1)];
  if (replica === undefined) throw new Error('there are no replicas');
  return replica;
}

type Draw = (random: Random) => ProxyFault;

/** For a while a share of the requests through the proxies meets a fault. */
async function faulty(random: Random, proxies: readonly FaultProxy[], draw: Draw): Promise<void> {
  const share = random.pick([0.1, 0.3, 0.6]);
  for (const proxy of proxies) proxy.fault = () => (random.chance(share) ? draw(random) : null);
  await sleep(random.whole(500, 4_000));
  for (const proxy of proxies) proxy.fault = () => null;
}

const SENDER_FAULTS: Draw = (random) =>
  random.pick<ProxyFault>([
    { kind: 'reset' },
    { kind: 'resetAfter', bytes: random.whole(1, 6_000) },
    { kind: 'loseAnswer' },
    { kind: 'cutAnswer', bytes: random.whole(0, 60) },
    { kind: 'delay', ms: random.whole(10, 900) },
    { kind: 'slow', bytesPerSecond: 20_000 },
  ]);

const STORE_ERRORS: Draw = (random) =>
  random.pick<ProxyFault>([
    { kind: 'answer', status: 500, code: 'InternalError' },
    { kind: 'answer', status: 503, code: 'SlowDown' },
    { kind: 'answer', status: 409, code: 'OperationAborted' },
    { kind: 'answer', status: 403, code: 'AccessDenied' },
  ]);

const STORE_NETWORK: Draw = (random) =>
  random.pick<ProxyFault>([
    { kind: 'reset' },
    { kind: 'resetAfter', bytes: random.whole(1, 20_000) },
    { kind: 'loseAnswer' },
    { kind: 'cutAnswer', bytes: random.whole(0, 200) },
    { kind: 'hang' },
    { kind: 'delay', ms: random.whole(50, 2_000) },
    { kind: 'slow', bytesPerSecond: 50_000 },
  ]);

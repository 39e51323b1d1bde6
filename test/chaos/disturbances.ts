import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../support/random.js';
import type { FaultProxy, ProxyFault } from '../support/store/fault-proxy.js';
import { COMMAND_NAMES, type Commands } from './commands.js';
import type { Replica } from './replica.js';
import type { Strain } from './strain.js';
import type { ChaosSubscriber, SubscriberMood } from './subscriber.js';

/** What can be broken, and how it is put right again. */
export interface Surroundings {
  readonly replicas: readonly Replica[];
  /** Between senders and each replica. */
  readonly senderProxies: readonly FaultProxy[];
  /** Between replicas and the store; none with a store of files. */
  readonly storeProxies: readonly FaultProxy[];
  /** Fills the disk, and frees it; null where that cannot be done. */
  readonly disk: { fill(): Promise<void>; free(): Promise<void> } | null;
  /** Takes the file system of the store away; null with S3. */
  readonly volume: { vanish(): Promise<void>; restore(): Promise<string[]> } | null;
  /** Lets single calls of the file store fail; null for none. */
  setFileFaults(plan: FileFaultPlan | null): Promise<void>;
  setClock(shiftMs: number): Promise<void>;
  /** Largest shift of the clock that the store bears. */
  readonly clockRangeMs: number;
  readonly strain: Strain;
  /** Null for none. */
  readonly commands: Commands | null;
  readonly subscriber: Pick<ChaosSubscriber, 'setMood'>;
  /** Compares the index of a replica that was killed with one that is built from the log. */
  readonly checkIndex: (replica: Replica) => Promise<void>;
  /** Told of what breaks the contract. */
  readonly onOddity: (oddity: string) => void;
}

/** Read by file-faults.mjs; shares of all calls from 0 to 1. */
export interface FileFaultPlan {
  readonly seed: number;
  readonly failing: number;
  readonly slow: number;
  readonly slowMs: number;
}

type Disturbance = (random: Random, around: Surroundings) => Promise<void>;

/**
 * Disturbs one thing after the other until the time is up, each kind once before any comes again; the seed draws order,
 * moments and lengths. Then everything is right again, also for requests in flight.
 */
export async function disturb(
  random: Random,
  { around, only }: { readonly around: Surroundings; readonly only: string },
  until: number,
  counts: Map<string, number>,
): Promise<void> {
  const possible = Object.entries(DISTURBANCES).filter(
    ([name]) => name.includes(only) && isPossible(name, around),
  );
  if (possible.length === 0) throw new Error(`no disturbance is named ${only}`);
  for (let round = shuffled(random, possible); performance.now() < until; ) {
    const [name, run] = round.pop() ?? [];
    if (name === undefined || run === undefined) {
      round = shuffled(random, possible);
      continue;
    }
    counts.set(name, (counts.get(name) ?? 0) + 1);
    console.log(`${new Date().toISOString()} ${name}`);
    await run(random, around);
    await sleep(random.whole(50, 1_000));
  }
  // Else a throttled body could keep its delivery in flight for minutes after its sender has given up.
  for (const proxy of [...around.senderProxies, ...around.storeProxies]) proxy.endFaults();
}

function shuffled<T>(random: Random, all: readonly T[]): T[] {
  return all
    .map((one) => ({ one, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ one }) => one);
}

function isPossible(name: string, around: Surroundings): boolean {
  if (name.startsWith('store:')) return around.storeProxies.length > 0;
  if (name.startsWith('files:')) return around.volume !== null;
  if (name.startsWith('command:')) return around.commands !== null;
  return name !== 'disk full' || around.disk !== null;
}

const DISTURBANCES: Readonly<Record<string, Disturbance>> = {
  async 'kill -9'(random, { replicas, checkIndex }) {
    const replica = oneOf(random, replicas);
    await replica.end('SIGKILL');
    await checkIndex(replica);
    await sleep(random.whole(0, 800));
    await replica.start();
  },
  async 'kill -9 all'(_random, { replicas, checkIndex }) {
    await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
    for (const replica of replicas) await checkIndex(replica);
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
  'store: single calls': (random, { storeProxies }) => faulty(random, storeProxies, SINGLE_CALLS),
  'store: Retry-After': (random, { storeProxies }) => faulty(random, storeProxies, RETRY_AFTER),
  'store: page of a proxy': (random, { storeProxies }) =>
    faulty(random, storeProxies, () => ({ kind: 'page' })),
  'store: other gateway': (random, { storeProxies }) => faulty(random, storeProxies, OTHER_GATEWAY),
  async 'files: single calls'(random, around) {
    await around.setFileFaults({
      seed: random.whole(0, 1e9),
      failing: random.pick([0.01, 0.03, 0.1]),
      slow: random.pick([0.1, 0.3]),
      slowMs: random.pick([200, 1_000]),
    });
    await sleep(random.whole(2_500, 5_000));
    await around.setFileFaults(null);
  },
  async 'files: volume gone'(random, { volume, onOddity }) {
    await volume?.vanish();
    await sleep(random.whole(500, 4_000));
    const beneath = (await volume?.restore()) ?? [];
    for (const file of beneath.filter((name) => !name.startsWith('.')))
      onOddity(`${file} was written where the volume had been`);
  },
  'subscriber: fails': (random, around) => moody(random, around, 'fails'),
  'subscriber: hangs': (random, around) => moody(random, around, 'hangs'),
  'subscriber: slow': (random, around) => moody(random, around, 'slow'),
  'subscriber: gone': (random, around) => moody(random, around, 'gone'),
  'subscriber: loses answers': (random, around) => moody(random, around, 'loses answers'),
  'slow senders': (random, { strain }) => strain.slowSenders(random),
  'tiny chunks': (random, { strain }) => strain.tinyChunks(random),
  'paused operators': (random, { strain }) => strain.pausedOperators(random),
  async 'disk full'(random, { disk }) {
    await disk?.fill();
    await sleep(random.whole(500, 3_000));
    await disk?.free();
  },
  async 'clock step'(random, around) {
    const shift = random.whole(-around.clockRangeMs, around.clockRangeMs);
    await around.setClock(shift);
    await sleep(random.whole(500, 4_000));
    // With a clock that is more than five minutes from the store's, a replica answers 503 (docs/ledger.md).
    if (Math.abs(shift) > 300_000 || random.chance(0.5)) await around.setClock(0);
  },
  'memory pressure': (random, { strain }) => strain.burst(random),
  ...Object.fromEntries(
    COMMAND_NAMES.map((name): [string, Disturbance] => [
      `command: kill -9 ${name}`,
      async (random, { commands, replicas }) => commands?.kill(name, random, replicas[0]?.url ?? ''),
    ]),
  ),
};

async function moody(random: Random, { subscriber }: Surroundings, mood: SubscriberMood): Promise<void> {
  subscriber.setMood(mood);
  await sleep(random.whole(300, 2_500));
  subscriber.setMood('accepts');
}

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

const OTHER_GATEWAY: Draw = (random) => ({
  kind: 'otherGateway',
  without: random.chance(0.7) ? ['x-amz-request-id', 'x-amz-id-2'] : [],
  with: random.pick<Record<string, string>>([
    {},
    { 'x-amz-request-id': 'the-same' },
    { server: 'gateway', via: '1.1 gateway' },
  ]),
  earlyHints: random.chance(0.3),
});

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

/** One call fails beside siblings that succeed or take long. */
const SINGLE_CALLS: Draw = (random) =>
  random.pick<ProxyFault>([
    { kind: 'answer', status: 500, code: 'InternalError' },
    { kind: 'reset' },
    { kind: 'resetAfter', bytes: random.whole(1, 20_000) },
    { kind: 'delay', ms: random.whole(50, 1_500) },
    { kind: 'delay', ms: random.whole(50, 1_500) },
    { kind: 'hang' },
  ]);

const RETRY_AFTER: Draw = (random) => ({
  kind: 'answer',
  status: random.pick([503, 429]),
  code: 'SlowDown',
  headers: { 'retry-after': random.pick(['1', '3', '120']) },
});

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

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ObjectStore } from '../../src/store/object-store.js';
import { createRandom } from '../support/random.js';
import { type FaultProxy, startFaultProxy } from '../support/store/fault-proxy.js';
import { createAccount } from './account.js';
import { check } from './checker.js';
import { createCommands } from './commands.js';
import { createDeliverer } from './deliver.js';
import { disturb, type FileFaultPlan, type Surroundings } from './disturbances.js';
import { gaugesAtRest, watchGrowth } from './growth.js';
import { checkIndexes, checkKilledIndex } from './index-check.js';
import { runLoad } from './load.js';
import { openPlace, type Place } from './place.js';
import { CLOCK_FILE, createReplica, FILE_CALLS_FILE, type Replica } from './replica.js';
import { printVerdict } from './report.js';
import { startSimulatedJobs } from './simulated-jobs.js';
import { createStrain } from './strain.js';
import { type ChaosSubscriber, startSubscriber } from './subscriber.js';

export interface ChaosOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly store: 'file' | 's3';
  readonly jobsPerSecond: number;
  /** Leaves logs and store where they are. */
  readonly keep: boolean;
  /** Kills commands as well, and merges and verifies at the end. */
  readonly commands: boolean;
  /** Disturbances whose name holds this text; empty for all. */
  readonly only: string;
  /** The program under test; an older build shows what the run would have found then. */
  readonly program: string;
}

const TOKEN = 'chaos-credential-of-32-characters';
/** Milliseconds from now: the store's clock may be ahead of this machine's. */
const SWEPT_BEGUN_BEFORE = 3_600_000;

/** True when nothing was lost, damaged, double, half-visible or left over, and nothing grew. */
export async function runChaos(options: ChaosOptions): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'receiver-chaos-'));
  const place = await openPlace(options.store, folder, options.seed);
  const cleanUp: (() => Promise<unknown>)[] = [];
  try {
    return await play(options, folder, place, cleanUp);
  } finally {
    for (const one of cleanUp.reverse()) await one().catch((error: unknown) => console.error(error));
    if (!options.keep) {
      await place.remove();
      await rm(folder, { recursive: true, force: true });
    } else console.log(`kept: ${folder}`);
  }
}

async function play(
  options: ChaosOptions,
  folder: string,
  place: Place,
  cleanUp: (() => Promise<unknown>)[],
): Promise<boolean> {
  const began = performance.now();
  const account = createAccount();
  const disturbances = new Map<string, number>();
  const proxied = async (target: string): Promise<FaultProxy> => {
    const proxy = await startFaultProxy(target);
    cleanUp.push(() => proxy.close());
    return proxy;
  };
  const storeProxies =
    place.endpoint === null ? [] : [await proxied(place.endpoint), await proxied(place.endpoint)];
  const subscriber = await startSubscriber();
  cleanUp.push(() => subscriber.end());
  let speech = {};
  const commands = options.commands
    ? await createCommands(
        {
          folder,
          program: options.program,
          storeFolder: place.folder,
          token: TOKEN,
          settings: () => ({
            ...place.settings(storeProxies[0]?.url ?? null, TOKEN, subscriber.settings),
            recovery: { grace: '0s' },
            retention: { data: '3650d' },
            speech,
          }),
        },
        place.view,
      )
    : null;
  const replicas = await startReplicas(options, place, storeProxies, subscriber, folder, cleanUp);
  const senderProxies = [];
  for (const { url } of replicas) senderProxies.push(await proxied(url));
  const growth = watchGrowth(replicas);
  cleanUp.push(async () => growth.stop());

  const until = began + options.minutes * 60_000;
  const addresses = senderProxies.map(({ url }) => url);
  let calm = false;
  const deliverer = createDeliverer(
    { addresses, ownAddresses: replicas.map(({ url }) => url), token: TOKEN, isCalm: () => calm },
    account,
  );
  const { seed } = options;
  const { sizes } = place;
  const strain = createStrain(
    { seed, token: TOKEN, replicas, addresses, sizes, burst: place.burst },
    deliverer,
    account,
  );
  const fromKilled: string[] = [];
  const around: Surroundings = {
    replicas,
    senderProxies,
    storeProxies,
    disk: place.disk,
    volume: place.volume,
    setFileFaults: (plan) => setFileFaults(folder, plan),
    setClock: (shift) => writeFile(join(folder, CLOCK_FILE), `${shift}`),
    clockRangeMs: place.clockRangeMs,
    strain,
    commands,
    subscriber,
    checkIndex: async ({ name }) => {
      fromKilled.push(...(await withStore(place, (store) => checkKilledIndex(store, folder, name))));
    },
    onOddity: (oddity) => account.oddities.push(oddity),
  };
  const simulated = await startSimulatedJobs(addresses[0] ?? '', {
    seed: options.seed,
    token: TOKEN,
    jobs: Math.max(5, Math.floor(options.minutes * 60 * 2)),
    perSecond: 3,
  });
  cleanUp.push(() => simulated.end());
  speech = await simulated.speech;
  const load = runLoad({ ...options, sizes, until }, deliverer, account);
  await disturb(createRandom(seed, 'disturbances'), { around, only: options.only }, until, disturbances);
  await around.setClock(0);
  calm = true;
  const jobs = await load;
  await strain.settled();
  await simulated.finished;
  // Before the restart: a process that received nothing holds nothing.
  const rest = await gaugesAtRest(replicas);
  // A sender that begins does not wait for the end of the pause after a 410.
  for (const replica of replicas) {
    await replica.end('SIGTERM');
    await replica.start();
  }
  const announcements = await subscriber.check(account, place.view);
  growth.stop();
  for (const replica of replicas) await replica.end('SIGTERM');
  const fromCommands = await commands?.finish();
  const leftovers = await sweep(place);
  // An index that was killed on the way must have what one has that is built now.
  const names = replicas.map(({ name }) => name);
  const fromIndexes = await withStore(place, (store) => checkIndexes(store, folder, names));
  const [verdict, fromSimulator] = [
    await check(account, simulated.jobIds(), place.view),
    await simulated.check(place.view),
  ];
  return printVerdict({
    options,
    seconds: (performance.now() - began) / 1000,
    jobs,
    account,
    disturbances,
    verdict,
    fromSimulator,
    fromCommands,
    fromIndexes: [...fromKilled, ...fromIndexes],
    announcements,
    leftovers,
    growth: growth.findings(),
    rest,
    crashes: replicas.flatMap(({ crashes }) => crashes),
  });
}

function setFileFaults(folder: string, plan: FileFaultPlan | null): Promise<void> {
  return writeFile(join(folder, FILE_CALLS_FILE), plan === null ? '' : JSON.stringify(plan));
}

async function startReplicas(
  { program }: ChaosOptions,
  place: Place,
  storeProxies: readonly FaultProxy[],
  subscriber: ChaosSubscriber,
  folder: string,
  cleanUp: (() => Promise<unknown>)[],
): Promise<Replica[]> {
  const replicas: Replica[] = [];
  for (const [index, name] of ['one', 'two'].entries()) {
    const settings = place.settings(storeProxies[index]?.url ?? null, TOKEN, subscriber.settings);
    const replica = await createReplica({ name, settings, folder, program, storeFolder: place.folder });
    cleanUp.push(() => replica.end('SIGKILL'));
    await replica.start();
    replicas.push(replica);
  }
  return replicas;
}

async function withStore<Result>(
  { openStore }: Place,
  work: (store: ObjectStore) => Promise<Result>,
): Promise<Result> {
  const store = await openStore();
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Sweeps in a row that remove nothing before what is left counts as orphaned. */
const SWEEPS_IN_VAIN = 2;

/** Sweeps as replicas do, but for the age: an upload that a busy store did not let go in time is left to the next sweep. */
async function sweep({ view, openStore }: Place): Promise<readonly string[]> {
  const store = await openStore();
  try {
    let left = await view.leftovers();
    for (let inVain = 0; left.length > 0 && inVain < SWEEPS_IN_VAIN; ) {
      const before = left.length;
      await store.sweepUploads(new Date(Date.now() + SWEPT_BEGUN_BEFORE));
      left = await view.leftovers();
      console.log(`swept ${before - left.length} of ${before} unfinished uploads`);
      inVain = left.length < before ? 0 : inVain + 1;
    }
    return left;
  } finally {
    await store.close();
  }
}

import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.js';
import type { ObjectStore } from '../../src/store/object-store.js';
import { openStore } from '../../src/store/open-store.js';
import { startBalancer } from '../support/http/balancer.js';
import { GUARDED, startReplicas } from '../support/processes/replicas.js';
import { runCli } from '../support/processes/run-cli.js';
import { startFaultProxy } from '../support/store/fault-proxy.js';
import { openRealBucket, realS3Settings } from '../support/store/real-s3.js';
import { until } from '../support/until.js';

/*
 * The disaster drill: two replicas behind haproxy over a real S3, under load from the simulator. A rolling restart, one
 * kill -9, a minute without the store, then reconcile; at the end every artefact of every finished job must be there,
 * byte by byte. See docs/operations.md. Exit code 0 when nothing is lost.
 *
 *   S3_ENDPOINT=… S3_ACCESS_KEY_ID=… S3_SECRET_ACCESS_KEY=… S3_BUCKET=drill npm run drill
 */

const RATE = Number(process.env.DRILL_JOBS_PER_SECOND ?? 8);
const OUTAGE = 60_000;
/** Retries after 6, 8 and 12 s instead of 15, 20 and 30: callbacks of the outage are given up before it ends. */
const TIME_SCALE = 0.4;
const PART = 5 * 2 ** 20;

const PATHS = {
  'transcript.json-v2': 'transcript.json',
  'transcript.txt': 'transcript.txt',
  'transcript.srt': 'transcript.srt',
  jobinfo: 'jobinfo.json',
  data: 'data',
} as const;
type Item = keyof typeof PATHS;
const MIX: readonly (readonly Item[])[] = [
  ['transcript.json-v2'],
  ['transcript.json-v2', 'jobinfo'],
  ['transcript.json-v2', 'transcript.srt', 'data'],
];

const began = performance.now();
function log(text: string): void {
  console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`);
}

function startLoad(simulator: Simulator, callbackUrl: string) {
  const jobs: { readonly id: string; readonly items: readonly Item[] }[] = [];
  const outcomes: Record<string, number> = {};
  const timer = setInterval(() => {
    const items = MIX[jobs.length % MIX.length] ?? [];
    const { id, notified } = simulator.submit({
      region: jobs.length % 2 === 0 ? 'eu1' : 'us1',
      words: 30 + (jobs.length % 300),
      // Some larger than a part, so that they stream.
      mediaBytes: jobs.length % 30 === 2 ? PART + 500_000 : 100_000,
      config: {
        type: 'transcription',
        transcription_config: { language: 'en' },
        notification_config: [
          { url: callbackUrl, contents: items, auth_headers: GUARDED.credentials.main.headers },
        ],
      },
    });
    jobs.push({ id, items });
    notified.then(([outcome = 'none']) => {
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    });
  }, 1000 / RATE);
  return { jobs, outcomes, stop: () => clearInterval(timer) };
}

/** Attempts so far that were not taken, by what happened to them. */
function refusals(simulator: Simulator): Record<string, number> {
  const counted: Record<string, number> = {};
  for (const { answer, error } of simulator.deliveries.attempts) {
    const what = answer === null ? error : String(answer.status);
    if (what !== null && what !== '200') counted[what] = (counted[what] ?? 0) + 1;
  }
  return counted;
}

interface Tally {
  /** Byte by byte what the service made. */
  exact: number;
  /** A jobinfo that was recovered: the API has the job's record only, so that stands in for it. */
  records: number;
  /** Missing, or other bytes. */
  readonly lost: string[];
}

async function compare(
  store: ObjectStore,
  simulator: Simulator,
  jobs: ReturnType<typeof startLoad>['jobs'],
): Promise<Tally> {
  const tally: Tally = { exact: 0, records: 0, lost: [] };
  const limit = pLimit(16);
  const looks = jobs.flatMap(({ id, items }) =>
    items.map((item) =>
      limit(async () => {
        const key = `jobs/${id}/${PATHS[item]}`;
        if ((await sha256Of(store, key)) === (await simulator.expected(id)[item].sha256())) tally.exact += 1;
        else if (item === 'jobinfo' && (await isRecord(store, key, id))) tally.records += 1;
        else tally.lost.push(key);
      }),
    ),
  );
  await Promise.all(looks);
  return tally;
}

async function isRecord(store: ObjectStore, key: string, jobId: string): Promise<boolean> {
  const reading = await store.read(key);
  if (reading === null) return false;
  const said = await text(reading.body);
  return reading.info.metadata.origin === 'recovery' && JSON.parse(said).job.id === jobId;
}

async function sha256Of(store: ObjectStore, key: string): Promise<string | null> {
  const reading = await store.read(key);
  if (reading === null) return null;
  const hash = createHash('sha256');
  for await (const chunk of reading.body) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

async function drill(): Promise<number> {
  const bucket = await openRealBucket();
  const direct = await openStore(bucket.options);
  const s3 = realS3Settings();
  const network = await startFaultProxy(s3.endpoint);
  const simulator = await createSimulator({
    seed: 'drill',
    regions: { eu1: 0, us1: 0 },
    timeScale: TIME_SCALE,
  });
  const regions = Object.entries(simulator.batchUrls).map(([region, batchUrl]) => [region, { batchUrl }]);
  const settings = {
    receiver: { drainDelay: '4s', drainDeadline: '20s' },
    store: {
      url: String(bucket.options.url),
      partSize: PART,
      canaryInterval: '2s',
      s3: { ...s3, endpoint: network.url },
    },
    speech: { apiKey: simulator.apiKey, regions: Object.fromEntries(regions), maxRequestsPerSecond: 200 },
    recovery: { grace: '0s', concurrency: 8, interval: 'off' },
  };
  const replicas = await startReplicas(settings);
  const balancer = await startBalancer('haproxy', { replicas: replicas.addresses });
  const load = startLoad(simulator, `${balancer.url}/callbacks/default`);
  const ups = (name: string) => balancer.output().split(`receivers/${name} is UP`).length;
  const progress = () =>
    `${load.jobs.length} jobs, not accepted so far ${JSON.stringify(refusals(simulator))}`;
  try {
    log(`two replicas behind haproxy over ${s3.endpoint}, ${RATE} jobs a second`);
    await sleep(10_000);
    for (const [index, name] of ['a', 'b'].entries()) {
      const before = ups(name);
      replicas.at(index).signal('SIGTERM');
      log(`SIGTERM to replica ${name}: it ended with ${await replicas.at(index).ended}`);
      await replicas.start(index);
      await until(() => ups(name) > before);
      log(`replica ${name} is back; ${progress()}`);
    }
    await sleep(5_000);
    await replicas.at(0).destroy();
    log('replica a was killed with SIGKILL');
    await sleep(5_000);
    await replicas.start(0);
    await sleep(5_000);
    log(`replica a is back; ${progress()}`);
    await network.refuse();
    log('the store is away');
    await sleep(OUTAGE);
    log(`before the store comes back: ${progress()}`);
    await network.accept();
    await until(async () => (await fetch(`${replicas.at(0).publicUrl}/readyz`)).ok);
    log('the store is back, and replica a is ready');
    await sleep(15_000);
    load.stop();
    await simulator.idle();
    log(`the load has ended; ${progress()}; notifications ${JSON.stringify(load.outcomes)}`);
    const before = await compare(direct, simulator, load.jobs);
    log(`before reconcile ${before.lost.length} artefacts are missing`);
    const { code, stdout } = await runCli(['reconcile', '--json'], {
      NODE_CONFIG: JSON.stringify({ ...settings, receiver: { publicUrl: balancer.url } }),
    });
    log(`reconcile ended with ${code}: ${JSON.stringify(JSON.parse(stdout).outcomes)}`);
    const after = await compare(direct, simulator, load.jobs);
    log(
      `${load.jobs.length} jobs: ${after.exact} artefacts byte-exact, ${after.records} recovered as the job's record, ` +
        `${after.lost.length} LOST`,
    );
    for (const key of after.lost.slice(0, 20)) log(`lost: ${key}`);
    const orphans = await direct.sweepUploads(new Date(Date.now() + 3_600_000));
    log(`unfinished uploads left behind and swept: ${orphans}`);
    return after.lost.length === 0 && code === 0 ? 0 : 1;
  } finally {
    load.stop();
    await balancer.stop();
    await replicas.stop();
    await simulator.close();
    await network.close();
    // Dot-folders are listed only to those who ask for them.
    for await (const { key } of direct.list('.canary/')) await direct.delete(key);
    await direct.close();
    await bucket.dispose();
  }
}

process.exitCode = await drill();

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { sha256 } from './callbacks.js';
import type { StoreView } from './store-view.js';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
/** What the service's own API returns of a job, by the artefact that must have the same bytes. */
const PATHS = { 'transcript.json': 'transcript?format=json-v2', data: 'data' } as const;

/** The product's double of the speech service as a second sender, with faults of its own. */
export interface SimulatedJobs {
  /** Resolves when every notification is settled. */
  readonly finished: Promise<void>;
  /** Settings of `speech`, with which `reconcile` asks for its jobs. */
  readonly speech: Promise<object>;
  /** All jobs it made, delivered or not. */
  jobIds(): ReadonlySet<string>;
  /** What it takes for delivered and is not in the store; what is there, delivered or not, with other bytes. */
  check(view: StoreView): Promise<{ delivered: number; missing: string[]; foreign: string[] }>;
  end(): Promise<void>;
}

interface Service {
  readonly apiKey: string;
  readonly keysUrl: string;
  readonly batchUrls: Readonly<Record<string, string>>;
}

interface SettledJob {
  readonly id: string;
  readonly region: string;
  readonly status: string;
  readonly notified: readonly string[];
}

export async function startSimulatedJobs(
  callbackUrl: string,
  options: { seed: number; token: string; jobs: number; perSecond: number },
): Promise<SimulatedJobs> {
  const faults = ['duplicate=0.1', 'cut=0.1', 'unreachable=0.1', 'delay=0.1'];
  const child = spawn(
    process.execPath,
    [
      ...[MAIN, 'simulate', '--json', '--callback', `${callbackUrl}/callbacks/default`],
      ...['--auth-header', `X-Chaos-Token: ${options.token}`, '--seed', `${options.seed}`],
      ...['--jobs', `${options.jobs}`, '--rate', `${options.perSecond}`, '--time-scale', '0.1'],
      ...['--contents', 'transcript', '--contents', 'transcript,jobinfo,data', '--media-bytes', '30000'],
      ...faults.flatMap((fault) => ['--fault', fault]),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH: process.env.PATH ?? '', NODE_NO_WARNINGS: '1' } },
  );
  const settled: SettledJob[] = [];
  const lines = createInterface({ input: child.stdout });
  const started = once(lines, 'line').then(([line]) => JSON.parse(line) as Service);
  const finished = new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      const { event, ...fields } = JSON.parse(line) as { event: string } & Record<string, unknown>;
      if (event === 'job') settled.push(fields as unknown as SettledJob);
      if (event === 'finished') resolve();
    });
    child.once('exit', (code) => reject(new Error(`the simulator ended with ${code}`)));
  });
  finished.catch(() => undefined);

  return {
    finished,
    speech: started.then(speechSettings),
    jobIds: () => new Set(settled.map(({ id }) => id)),
    async check(view) {
      const delivered = settled.filter(
        ({ status, notified }) =>
          status === 'success' && notified.every((outcome) => outcome === 'delivered'),
      );
      const keys = new Set(await view.keys());
      const isDelivered = new Set(delivered.map(({ id }) => id));
      const service = await started;
      const faults: Record<'missing' | 'foreign', string[]> = { missing: [], foreign: [] };
      for (const { id, region } of settled) {
        const { missing, foreign } = await faultsOf(service, { id, region }, view, keys);
        faults.foreign.push(...foreign);
        if (isDelivered.has(id)) faults.missing.push(...missing);
      }
      return { delivered: delivered.length, ...faults };
    },
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

function speechSettings({ apiKey, keysUrl, batchUrls }: Service): object {
  const regions = Object.entries(batchUrls).map(([region, batchUrl]) => [region, { batchUrl }]);
  return { apiKey, keysUrl, regions: Object.fromEntries(regions) };
}

/** The transcript must be there; media when the job asked for them. */
async function faultsOf(
  service: Service,
  { id, region }: Pick<SettledJob, 'id' | 'region'>,
  view: StoreView,
  keys: ReadonlySet<string>,
): Promise<{ missing: string[]; foreign: string[] }> {
  const [missing, foreign]: [string[], string[]] = [[], []];
  for (const [file, path] of Object.entries(PATHS)) {
    const key = `jobs/${id}/${file}`;
    if (!keys.has(key)) {
      if (file === 'transcript.json') missing.push(`simulator: ${key} is not there`);
      continue;
    }
    const response = await fetch(`${service.batchUrls[region]}/v2/jobs/${id}/${path}`, {
      headers: { authorization: `Bearer ${service.apiKey}` },
    });
    const expected = Buffer.from(await response.arrayBuffer());
    if (sha256(await view.read(key)) !== sha256(expected))
      foreign.push(`simulator: ${key} holds other bytes`);
  }
  return { missing, foreign };
}

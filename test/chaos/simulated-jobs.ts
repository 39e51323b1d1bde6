import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { sha256 } from './callbacks.js';
import type { StoreView } from './store-view.js';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const FILES = {
  'transcript.json-v2': 'transcript.json',
  jobinfo: 'jobinfo.json',
  data: 'data',
} as const;

/** The product's double of the speech service as a second sender, with faults of its own. */
export interface SimulatedJobs {
  /** Resolves when every notification is settled. */
  readonly finished: Promise<void>;
  /** Of all jobs it made, delivered or not. */
  jobIds(): ReadonlySet<string>;
  /** What it takes for delivered and is not in the store; what is there, delivered or not, with other bytes. */
  check(view: StoreView): Promise<{ delivered: number; missing: string[]; foreign: string[] }>;
  end(): Promise<void>;
}

interface SettledJob {
  readonly id: string;
  readonly status: string;
  readonly notified: readonly string[];
}

export async function startSimulatedJobs(
  callbackUrl: string,
  options: { seed: number; token: string; jobs: number; perSecond: number },
): Promise<SimulatedJobs> {
  const faults = ['duplicate=0.1', 'cut=0.1', 'unreachable=0.1', 'reorder=0.1', 'delay=0.05'];
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
  let controlUrl = '';
  const finished = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { event, ...fields } = JSON.parse(line) as { event: string } & Record<string, unknown>;
      if (event === 'started') controlUrl = `${fields.controlUrl}`;
      if (event === 'job') settled.push(fields as unknown as SettledJob);
      if (event === 'finished') resolve();
    });
    child.once('exit', (code) => reject(new Error(`the simulator ended with ${code}`)));
  });
  finished.catch(() => undefined);

  return {
    finished,
    jobIds: () => new Set(settled.map(({ id }) => id)),
    async check(view) {
      const delivered = settled.filter(
        ({ status, notified }) =>
          status === 'success' && notified.every((outcome) => outcome === 'delivered'),
      );
      const keys = new Set(await view.keys());
      const isDelivered = new Set(delivered.map(({ id }) => id));
      const faults: Record<'missing' | 'foreign', string[]> = { missing: [], foreign: [] };
      for (const { id } of settled) {
        const { missing, foreign } = await faultsOf(controlUrl, id, view, keys);
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

/** The transcript must be there; information and media when the job asked for them. */
async function faultsOf(
  controlUrl: string,
  id: string,
  view: StoreView,
  keys: ReadonlySet<string>,
): Promise<{ missing: string[]; foreign: string[] }> {
  const expected = (await (await fetch(`${controlUrl}/jobs/${id}/expected`)).json()) as Record<
    string,
    { sha256: string }
  >;
  const [missing, foreign]: [string[], string[]] = [[], []];
  for (const [item, file] of Object.entries(FILES)) {
    const key = `jobs/${id}/${file}`;
    if (!keys.has(key)) {
      if (item === 'transcript.json-v2') missing.push(`simulator: ${key} is not there`);
    } else if (item !== 'jobinfo' && sha256(await view.read(key)) !== expected[item]?.sha256) {
      foreign.push(`simulator: ${key} holds other bytes`);
    }
  }
  return { missing, foreign };
}

import { Command } from 'commander';
import { terminalText } from '../lib/text/terminal-text.js';
import type { Fault } from '../simulator/faults.js';
import { configFault } from '../simulator/jobs/job-config.js';
import { type Load, runLoad, type SettledJob } from '../simulator/run-load.js';
import { createSimulator, type Simulator } from '../simulator/simulator.js';
import { UsageError } from './shared/exit-codes.js';
import { readPositive, readShare, readWhole } from './shared/options/read-number.js';
import {
  RATED_FAULTS,
  readContents,
  readFault,
  readPort,
  readRegion,
} from './shared/options/simulate-arguments.js';
import { untilSignal } from './shared/signal-handling.js';

interface SimulateOptions {
  readonly callback?: string;
  readonly authHeader: string[];
  readonly contents: (string[] | undefined)[];
  readonly jobs?: number;
  readonly rate: number;
  readonly failures: number;
  readonly fault: Fault[];
  readonly mediaBytes?: number;
  readonly region: Record<string, number>;
  readonly host: string;
  readonly keysPort: number;
  readonly realtimePort: number;
  readonly apiKey?: string;
  readonly seed?: string;
  readonly timeScale: number;
  readonly exit: boolean;
  readonly json: boolean;
}

export function createCommand(): Command {
  return new Command('simulate')
    .option('--callback <url>', 'submit jobs that notify this address')
    .option(
      '--auth-header <line>',
      'header line of the callbacks, "<Header-Name>: <value>"; repeatable',
      (line, lines: string[]) => [...lines, line],
      [] as string[],
    )
    .option(
      '--contents <list>',
      'contents of a job, comma-separated; "none" for empty, "absent" to leave out; repeat for a mix',
      (text, mix: SimulateOptions['contents']) => [...mix, readContents(text)],
      [] as SimulateOptions['contents'],
    )
    .option('--jobs <number>', 'how many jobs to submit (default: until interrupted)', readWhole)
    .option('--rate <number>', 'jobs per second', readPositive, 1)
    .option('--failures <share>', 'share of jobs that end in an error, 0 to 1', readShare, 0)
    .option(
      '--fault <kind=share>',
      `share of callbacks hit by ${Object.keys(RATED_FAULTS).join(', ')}; repeatable`,
      (text, faults: Fault[]) => [...faults, readFault(text)],
      [] as Fault[],
    )
    .option('--media-bytes <number>', 'size of the media (default: varied)', readWhole)
    .option(
      '--region <name=port>',
      'simulate this region on this port; repeatable (default: all, on free ports)',
      (text, regions: Record<string, number>) => ({ ...regions, ...readRegion(text) }),
      {},
    )
    .option('--host <address>', 'address to listen on; empty: every address', '127.0.0.1')
    .option('--keys-port <port>', 'port of the key service', readPort, 0)
    .option('--realtime-port <port>', 'port of the realtime and agent host', readPort, 0)
    .option('--api-key <key>', 'API key to accept (default: generated and printed)')
    .option('--seed <text>', 'same seed, same jobs and faults (default: random)')
    .option('--time-scale <factor>', 'multiplies the waits between retries, e.g. 0.01', readPositive, 1)
    .option('--exit', 'end when all jobs are settled, instead of serving the API until interrupted', false)
    .option('--json', 'print one JSON object per event', false)
    .action((options: SimulateOptions) => untilSignal(1, (stop) => simulate(options, stop)));
}

async function simulate(options: SimulateOptions, stop: AbortSignal): Promise<void> {
  checkCallback(options);
  const simulator = await createSimulator({
    host: options.host,
    keysPort: options.keysPort,
    realtimePort: options.realtimePort,
    timeScale: options.timeScale,
    ...(Object.keys(options.region).length > 0 ? { regions: options.region } : {}),
    ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
    ...(options.seed === undefined ? {} : { seed: options.seed }),
  });
  try {
    for (const one of options.fault) simulator.faults.add(one);
    print(options, 'started', addresses(simulator));
    if (options.callback) await submit(simulator, options, options.callback, stop);
    if (!(options.exit && options.callback)) await aborted(stop);
  } finally {
    await simulator.close();
  }
}

/** Rejects a configuration that would fail for every job. */
function checkCallback({ callback, authHeader, jobs, exit }: SimulateOptions): void {
  if (callback === undefined) {
    if (exit || jobs !== undefined) throw new UsageError('--jobs and --exit need --callback <url>');
    return;
  }
  const notification = { url: callback, auth_headers: authHeader };
  const fault = configFault({ type: 'transcription', notification_config: [notification] });
  if (fault) throw new UsageError(`--callback or --auth-header: ${fault}`);
}

async function submit(
  simulator: Simulator,
  options: SimulateOptions,
  callbackUrl: string,
  signal: AbortSignal,
): Promise<void> {
  const load: Load = {
    callbackUrl,
    jobs: options.jobs ?? null,
    perSecond: options.rate,
    authHeaders: options.authHeader,
    contents: options.contents.length > 0 ? options.contents : [['transcript']],
    failureRate: options.failures,
    mediaBytes: options.mediaBytes ?? null,
  };
  const onSettled = (job: SettledJob) => print(options, 'job', { ...job });
  // An interrupt must not wait for the last retry of each notification.
  signal.addEventListener('abort', () => void simulator.close(), { once: true });
  const summary = await runLoad(simulator, load, { signal, onSettled });
  print(options, 'finished', { ...summary });
}

function addresses(simulator: Simulator): Record<string, unknown> {
  const { apiKey, keysUrl, batchUrls, realtimeUrl, seed } = simulator;
  return { apiKey, keysUrl, batchUrls, realtimeUrl, seed };
}

function print(options: SimulateOptions, event: string, fields: Record<string, unknown>): void {
  if (options.json) return console.log(JSON.stringify({ event, ...fields }));
  const words = Object.entries(fields).map(([name, value]) => `${name}=${plain(value)}`);
  const text = event === 'started' ? `started\n  ${words.join('\n  ')}` : `${event}  ${words.join('  ')}`;
  console.log(terminalText(text));
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

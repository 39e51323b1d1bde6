import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { V8_FLAGS } from '../../scripts/v8-flags.mjs';
import { freePort } from '../support/http/free-port.js';
import { indexPath } from './index-check.js';

/** The program as it is built here. */
export const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
export const ADMIN_TOKEN = 'chaos-admin-token-of-some-length';
const CLOCK = new URL('./clock.mjs', import.meta.url).href;
const FILE_FAULTS = new URL('./file-faults.mjs', import.meta.url).href;

/** What steers a replica from outside while it runs: files, read ten times a second. */
export const CLOCK_FILE = 'clock';
export const FILE_CALLS_FILE = 'file-calls';

export interface ReplicaOptions {
  readonly name: string;
  readonly settings: object;
  /** For its log and the files that steer it. */
  readonly folder: string;
  readonly program: string;
  /** Folder of a file store, whose calls can be made to fail. */
  readonly storeFolder: string | null;
}

/** A receiver at a fixed address, whose process comes and goes. */
export interface Replica {
  readonly name: string;
  readonly url: string;
  readonly adminUrl: string;
  readonly pid: number | null;
  /** Unexpected exits. */
  readonly crashes: readonly string[];
  /** Memory of the process that runs now, in bytes; null when none does. */
  rss(): number | null;
  /** Resolves when it is ready, what a balancer waits for. */
  start(): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** Sends the signal and waits for the end; SIGKILL after `patienceMs`. Tells the exit code or signal. */
  end(name: NodeJS.Signals, patienceMs?: number): Promise<number | string | null>;
}

export interface ProgramOptions extends Pick<ReplicaOptions, 'folder' | 'program' | 'storeFolder'> {
  /** All settings, as JSON. */
  readonly config: string;
}

/** Starts the program under test with the clock and the file faults that the run steers. */
export function spawnProgram(
  args: readonly string[],
  { config, folder, program, storeFolder }: ProgramOptions,
  stdio: StdioOptions,
): ChildProcess {
  const preloaded = ['--import', CLOCK, '--import', FILE_FAULTS];
  return spawn(process.execPath, [...V8_FLAGS, ...preloaded, program, ...args], {
    env: {
      PATH: process.env.PATH ?? '',
      NODE_ENV: 'production',
      NODE_NO_WARNINGS: '1',
      NODE_CONFIG: config,
      CHAOS_CLOCK: join(folder, CLOCK_FILE),
      CHAOS_FILE_CALLS: join(folder, FILE_CALLS_FILE),
      ...(storeFolder === null ? {} : { CHAOS_STORE: storeFolder }),
      AWS_EC2_METADATA_DISABLED: 'true',
    },
    stdio,
  });
}

export async function createReplica(options: ReplicaOptions): Promise<Replica> {
  const { name, settings, folder } = options;
  const port = await freePort();
  const adminPort = await freePort();
  const config = JSON.stringify({
    ...settings,
    replicaName: name,
    ledger: { index: { path: indexPath(folder, name) } },
    receiver: { host: '127.0.0.1', port, drainDelay: '100ms', drainDeadline: '4s' },
    admin: { host: '127.0.0.1', port: adminPort, tokens: { chaos: ADMIN_TOKEN } },
  });
  const logFile = join(folder, `${name}.log`);
  const crashes: string[] = [];
  let child: ChildProcess | null = null;
  let ending: ChildProcess | null = null;

  async function start(): Promise<void> {
    const log = openSync(logFile, 'a');
    const started = spawnProgram(['serve'], { ...options, config }, ['ignore', log, log]);
    closeSync(log);
    child = started;
    started.once('exit', (code, signal) => {
      if (child === started) child = null;
      if (ending !== started) crashes.push(`${name} ended by itself (${signal ?? code}), see ${logFile}`);
    });
    for (let waited = 0; child === started && waited < 120_000; waited += 50) {
      if (await isOk(`http://127.0.0.1:${port}/readyz`)) return;
      await sleep(50);
    }
    throw new Error(`${name} is not ready: ${readFileSync(logFile, 'utf8').slice(-2_000)}`);
  }

  return {
    name,
    crashes,
    url: `http://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    get pid() {
      return child?.pid ?? null;
    },
    rss: () => residentBytes(child?.pid),
    start,
    signal: (signal) => child?.kill(signal),
    async end(signal, patienceMs = 15_000) {
      const last = child;
      if (last === null) return null;
      ending = last;
      const gone = once(last, 'exit');
      last.kill(signal);
      const timer = setTimeout(() => last.kill('SIGKILL'), patienceMs);
      const [code, by] = await gone;
      clearTimeout(timer);
      return by ?? code;
    },
  };
}

async function isOk(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

function residentBytes(pid: number | undefined): number | null {
  try {
    // A process that is ending has no VmRSS any more.
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return null;
  }
}

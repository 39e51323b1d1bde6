import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { V8_FLAGS } from '../../../scripts/v8-flags.mjs';
import { until } from '../until.js';
import { PROGRAM_ENVIRONMENT } from './program-environment.js';

export const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

/** The real binary in a process of its own, which can be killed. */
export interface ReceiverProcess {
  readonly pid: number;
  readonly publicUrl: string;
  readonly adminUrl: string;
  readonly log: readonly Record<string, unknown>[];
  /** Everything that was printed, log lines included. */
  readonly output: readonly string[];
  signal(name: NodeJS.Signals): void;
  /** Exit code, or the signal that ended it; all that it printed has come by then. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** kill -9 if it still runs, and wait. */
  destroy(): Promise<void>;
}

/** Root without the capabilities that pass over file modes. Another user could perhaps not reach Node or this build. */
const OBEYING_MODES = ['setpriv', '--bounding-set=-dac_override,-dac_read_search'];

/** The command prefix with which file modes apply to a program although root runs the test. */
export function obeyingModes(): readonly string[] {
  return process.getuid?.() === 0 ? OBEYING_MODES : [];
}

/** Production has no source by itself; most tests need no credential. */
const OPEN_SOURCE = { default: { allowUnauthenticated: true } };

/** Ports that a test does not name are free ones: the default ports may belong to a receiver that runs on this machine. */
function onFreePorts(settings: Record<string, unknown>): Record<string, unknown> {
  const withPort = (port: unknown) => ({ port: 0, ...(port as object | undefined) });
  return { ...settings, receiver: withPort(settings.receiver), admin: withPort(settings.admin) };
}

interface ProcessOptions {
  readonly openFiles?: number;
  readonly nodeFlags?: readonly string[];
  readonly main?: string;
  /** File modes apply to the process although root runs the test. */
  readonly obeysModes?: boolean;
}

/**
 * Starts `serve` with these settings, and at most `openFiles` open files; `main` is the program when it is not this build.
 * Resolves when it listens, rejects with its output when it ends before.
 */
export async function startProcess(
  settings: Record<string, unknown>,
  environment: Record<string, string> = {},
  { openFiles, nodeFlags = [], main = MAIN, obeysModes = false }: ProcessOptions = {},
): Promise<ReceiverProcess> {
  const program = [
    ...(obeysModes ? obeyingModes() : []),
    process.execPath,
    ...V8_FLAGS,
    ...nodeFlags,
    main,
    'serve',
  ];
  const [command = '', ...args] =
    openFiles === undefined ? program : ['sh', '-c', `ulimit -n ${openFiles}; exec "$0" "$@"`, ...program];
  const child = spawn(command, args, {
    env: {
      ...PROGRAM_ENVIRONMENT,
      NODE_ENV: 'production',
      NODE_NO_WARNINGS: '1',
      NODE_CONFIG: JSON.stringify({ sources: OPEN_SOURCE, ...onFreePorts(settings) }),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  const log: Record<string, unknown>[] = [];
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  const listening = new Promise<{ receiverUrl: string; adminUrl: string }>((resolve, reject) => {
    eachLine(child, (line) => {
      output.push(line);
      const entry = parsed(line);
      if (entry === null) return;
      log.push(entry);
      if (entry.event === 'listening') resolve(entry as never);
    });
    ended.then((code) => reject(new Error(`the receiver ended with ${code}:\n${output.join('\n')}`)));
  });
  const { receiverUrl, adminUrl } = await listening;
  return {
    pid: child.pid as number,
    publicUrl: receiverUrl,
    adminUrl,
    log,
    output,
    signal: (name) => child.kill(name),
    ended,
    destroy: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Starts `serve` and waits until it takes deliveries: it listens before its store is proven. */
export async function startReady(...how: Parameters<typeof startProcess>): Promise<ReceiverProcess> {
  const receiver = await startProcess(...how);
  await until(async () => (await fetch(`${receiver.publicUrl}/readyz`)).ok);
  return receiver;
}

function eachLine(child: ChildProcess, onLine: (line: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on('line', onLine);
  }
}

function parsed(line: string): Record<string, unknown> | null {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}

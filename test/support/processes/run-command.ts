import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from '@jest/globals';
import { PROGRAM_ENVIRONMENT } from './program-environment.js';
import type { CliResult } from './run-cli.js';

const HOST = fileURLToPath(new URL('command-host.mjs', import.meta.url));

interface Host {
  readonly child: ChildProcess;
  /** Exit code. */
  readonly ended: Promise<number | null>;
}

let host: Host | null = null;
let lastRun: Promise<unknown> = Promise.resolve();

/**
 * As `runCli`, in one process for all commands of a test file, because most of what a command costs is loading the program.
 * One command runs at a time.
 */
export function runCommand(
  args: readonly string[],
  env: Record<string, string> = {},
  cwd?: string,
): Promise<CliResult> {
  const run = lastRun.then(() => runInHost({ args, env: { ...PROGRAM_ENVIRONMENT, ...env }, cwd }));
  lastRun = run.catch(() => undefined);
  return run;
}

async function runInHost(run: object): Promise<CliResult> {
  host ??= startHost();
  const { child, ended } = host;
  const result = once(child, 'message').then(([message]) => message as CliResult);
  const crash = ended.then((code): never => {
    throw new Error(`the process of the commands ended with ${code}`);
  });
  child.send(run);
  return Promise.race([result, crash]);
}

function startHost(): Host {
  const child = fork(HOST, {
    execArgv: [],
    env: PROGRAM_ENVIRONMENT,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  child.stderr?.pipe(process.stderr);
  return { child, ended: once(child, 'exit').then(([code]) => code) };
}

/** The process has to end by itself: a socket or a timer that a command left behind would keep it running. */
afterAll(async () => {
  if (host === null) return;
  host.child.disconnect();
  expect(await host.ended).toBe(0);
});

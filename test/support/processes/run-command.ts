import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from '@jest/globals';
import pLimit from 'p-limit';
import { PROGRAM_ENVIRONMENT } from './program-environment.js';
import type { CliResult } from './run-cli.js';

const HOST = fileURLToPath(new URL('command-host.mjs', import.meta.url));

interface Host {
  readonly child: ChildProcess;
  /** Exit code. */
  readonly ended: Promise<number | null>;
}

/** Processes for commands that run at the same time: each has to load the program. */
const MOST_HOSTS = 2;

const hosts: Host[] = [];
const idle: Host[] = [];
const limit = pLimit(MOST_HOSTS);

/**
 * As `runCli`, in a process that runs all commands of a test file one after the other, because most of what a command costs is loading the
 * program. Commands at the same time have a process each. Node reads `NODE_EXTRA_CA_CERTS` at its start, so that all commands of a file
 * have the same.
 */
export function runCommand(
  args: readonly string[],
  env: Record<string, string> = {},
  cwd?: string,
): Promise<CliResult> {
  return limit(async () => {
    const host = idle.pop() ?? startHost(env);
    const result = await runIn(host, { args, env: { ...PROGRAM_ENVIRONMENT, ...env }, cwd });
    idle.push(host);
    return result;
  });
}

function runIn({ child, ended }: Host, run: object): Promise<CliResult> {
  const result = once(child, 'message').then(([message]) => message as CliResult);
  const crash = ended.then((code): never => {
    throw new Error(`the process of the commands ended with ${code}`);
  });
  child.send(run);
  return Promise.race([result, crash]);
}

function startHost({ NODE_EXTRA_CA_CERTS }: Record<string, string>): Host {
  const child = fork(HOST, {
    execArgv: [],
    env: { ...PROGRAM_ENVIRONMENT, ...(NODE_EXTRA_CA_CERTS !== undefined && { NODE_EXTRA_CA_CERTS }) },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  child.stderr?.pipe(process.stderr);
  const host = { child, ended: once(child, 'exit').then(([code]) => code) };
  hosts.push(host);
  return host;
}

/** Each process has to end by itself: a socket or a timer that a command left behind would keep it running. */
afterAll(async () => {
  for (const { child } of hosts) child.disconnect();
  expect(await Promise.all(hosts.map(({ ended }) => ended))).toEqual(hosts.map(() => 0));
});

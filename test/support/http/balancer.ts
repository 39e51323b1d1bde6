import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../temporary-folder.js';
import { until } from '../until.js';
import { freePort } from './free-port.js';

export type BalancerKind = 'haproxy' | 'nginx';

export const BALANCERS: readonly BalancerKind[] = ['haproxy', 'nginx'];

/** Addresses of replicas in the shipped files, in order. */
const PLACES = ['10.0.0.11:8080', '10.0.0.12:8080'] as const;

export interface BalancerOptions {
  /** Where the replicas listen, as host:port. */
  readonly replicas: readonly [string, string];
  /** Name of another shipped file, which names no replicas. */
  readonly file?: string;
  /** Further replacements in the shipped file; each must occur. */
  readonly replace?: Readonly<Record<string, string>>;
}

/** A balancer from Debian with the configuration file of this project, in which only addresses are changed. */
export interface Balancer {
  readonly url: string;
  readonly pid: number;
  readonly folder: string;
  /** Its output, standard error first. */
  readonly output: () => string;
  /** nginx only: rewrites the file and reloads it; resolves when no worker uses the old one. */
  reload(replace: Readonly<Record<string, string>>): Promise<void>;
  stop(): Promise<void>;
}

export async function startBalancer(kind: BalancerKind, options: BalancerOptions): Promise<Balancer> {
  const folder = await temporaryFolder();
  const port = await freePort();
  const file = path.join(folder.path, 'balancer.conf');
  const write = (replace: Readonly<Record<string, string>>) =>
    writeFileSync(file, shippedFile(kind, port, folder.path, options, replace));
  write({});
  const child = spawn(...command(kind, file, folder.path), { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = once(child, 'exit');
  await until(async () => child.exitCode !== null || (await isListening(port)));
  if (child.exitCode !== null) throw new Error(`${kind} ended with ${child.exitCode}:\n${output}`);
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid as number,
    folder: folder.path,
    output: () => output,
    async reload(replace) {
      write(replace);
      const before = occurrences(output, 'start worker process ');
      child.kill('SIGHUP');
      // Old workers still send to the old replicas.
      await until(() => occurrences(output, ' exited with code 0') === before);
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await folder.remove();
    },
  };
}

function command(kind: BalancerKind, file: string, folder: string): [string, string[]] {
  if (kind === 'haproxy') return ['haproxy', ['-db', '-f', file]];
  const globals = `daemon off; pid ${folder}/nginx.pid; error_log stderr notice;`;
  return ['nginx', ['-p', folder, '-c', file, '-g', globals]];
}

function shippedFile(
  kind: BalancerKind,
  port: number,
  folder: string,
  options: BalancerOptions,
  more: Readonly<Record<string, string>>,
): string {
  const name = options.file ?? (kind === 'haproxy' ? 'haproxy.cfg' : 'nginx.conf');
  const shipped = readFileSync(fileURLToPath(new URL(`../../../deploy/${name}`, import.meta.url)), 'utf8');
  // Debian's nginx writes into folders of the system otherwise.
  const ownFolders = `http {\n    client_body_temp_path ${folder}/bodies;\n    access_log ${folder}/access.log;\n`;
  return Object.entries({
    ...(kind === 'haproxy'
      ? { 'bind :8000': `bind 127.0.0.1:${port}` }
      : { 'listen 8000;': `listen 127.0.0.1:${port};`, 'http {\n': ownFolders }),
    ...options.replace,
    ...more,
    ...(options.file === undefined
      ? { [PLACES[0]]: options.replicas[0], [PLACES[1]]: options.replicas[1] }
      : {}),
  }).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`${name} does not say ${from}`);
    return text.replaceAll(from, to);
  }, shipped);
}

function occurrences(text: string, part: string): number {
  return text.split(part).length - 1;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { until } from '../until.js';

/** What the image's configuration says about running it, as `docker inspect` names it. */
interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly ExposedPorts: Readonly<Record<string, unknown>>;
  readonly StopSignal: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** An unpacked image: its root file system and its configuration. */
export interface Image {
  readonly rootfs: string;
  readonly config: ImageConfig;
}

/** Builds the project's image into `folder`, see test/platform/build-image.sh. */
export function buildImage(script: string, folder: string): Image {
  execFileSync(script, [folder], { stdio: ['ignore', 'inherit', 'inherit'] });
  const inspected = JSON.parse(readFileSync(path.join(folder, 'image.json'), 'utf8'));
  return { rootfs: path.join(folder, 'rootfs'), config: inspected.Docker.config };
}

export interface ContainerOptions {
  /** Folders of this machine by where they are mounted; the only places that can be written. */
  readonly volumes: Readonly<Record<string, string>>;
  /** Places of empty file systems in memory that can be written, too. */
  readonly tmpfs?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

export interface Container {
  /** Process number on this machine; in the container it is 1. */
  readonly pid: number;
  readonly output: () => string;
  /** Runs a command beside the main process, as a health check does; resolves with its exit code. */
  exec(command: readonly string[]): Promise<number>;
  /** Exit code of the main process. */
  readonly ended: Promise<number | null>;
}

/*
 * A container without an engine: mount and process namespaces of its own, the image's root read-only, nothing but
 * the volumes, empty file systems in memory, /dev and an empty /proc in it, the image's user. Other isolation (network, cgroups,
 * capabilities) does not matter for these tests.
 */
const ENTER = `
set -e
root=$1 user=$2 workdir=$3; shift 3
mount --bind "$root" "$root"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
while [ "$1" != -- ]; do mount --bind "$1" "$root$2"; shift 2; done; shift
while [ "$1" != -- ]; do mount -t tmpfs -o mode=1777 tmpfs "$root$1"; shift; done; shift
mount -o remount,bind,ro "$root"
exec chroot --userspec="$user" --groups= "$root" env -i -C "$workdir" "$@"
`;

/** Starts the image's entry point; `args` replace its command. */
export async function startContainer(image: Image, options: ContainerOptions): Promise<Container> {
  for (const target of Object.keys(options.volumes)) await mkdir(image.rootfs + target, { recursive: true });
  const command = [...image.config.Entrypoint, ...(options.args ?? image.config.Cmd)];
  const child = enter(image, options, command);
  let output = '';
  child.stdout?.on('data', (text) => {
    output += text;
  });
  child.stderr?.on('data', (text) => {
    output += text;
  });
  return {
    pid: await onlyChildOf(child),
    output: () => output,
    exec: async (extra) => {
      const [code] = await once(enter(image, options, extra), 'exit');
      return code as number;
    },
    ended: once(child, 'exit').then(([code]) => code as number | null),
  };
}

function enter(
  image: Image,
  { volumes, tmpfs = [], env }: ContainerOptions,
  command: readonly string[],
): ChildProcess {
  const mounts = Object.entries(volumes).flatMap(([target, source]) => [source, target]);
  const environment = [
    ...image.config.Env,
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
  ];
  const { User: user, WorkingDir: workdir } = image.config;
  const script = ['sh', '-c', ENTER, 'enter', image.rootfs, user, workdir, ...mounts, '--', ...tmpfs, '--'];
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];
  return spawn('unshare', [...namespaces, ...script, ...environment, ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** `unshare --fork` stays as the parent of the first process in the namespace. */
async function onlyChildOf(child: ChildProcess): Promise<number> {
  let found = '';
  await until(async () => {
    found = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').catch(() => '');
    return found.trim() !== '' || child.exitCode !== null;
  });
  return Number(found.trim());
}

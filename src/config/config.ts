import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Environment } from './environment.js';
import { ConfigError } from './faults.js';
import { loadSettings } from './load.js';
import { readSettings } from './read-settings.js';
import type { Settings } from './schema.js';
import type { Surroundings } from './secrets.js';
import { withoutPorts } from './without-ports.js';

type DeepReadonly<T> = T extends readonly (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** Sizes in bytes, durations in milliseconds, times in milliseconds since 1970; null means not set. */
export type Config = DeepReadonly<
  Omit<Settings, 'replicaName' | 'capture'> & { replicaName: string; capture: { rescueFolder: string } }
>;

/** Nothing around: references to secrets cannot be resolved. */
const NOWHERE: Surroundings = {
  env: {},
  readFile: () => {
    throw new Error('no files here');
  },
  hostName: 'receiver',
};

/**
 * The configuration of this process, from the package's `config/`, NODE_CONFIG_DIR, NODE_CONFIG and mapped
 * environment variables. Throws `ConfigError` with every fault at once.
 */
export function loadConfig(env: Environment = process.env): Config {
  const { tree, variables } = loadSettings(env);
  return parseConfig(tree, surroundingsOf(env, variables));
}

/**
 * The same for commands that work on the store and never listen: what guards the ports is left out, so that the secrets of
 * senders and operators need not be at hand, in a CronJob for instance. `check-config` and `serve` look at everything.
 */
export function loadConfigWithoutPorts(env: Environment = process.env): Config {
  const { tree, variables } = loadSettings(env);
  return parseConfig(withoutPorts(tree), surroundingsOf(env, variables));
}

function surroundingsOf(env: Environment, variables: ReadonlySet<string>): Surroundings {
  return { env, variables, readFile: (file) => readFileSync(file, 'utf8'), hostName: processName() };
}

/** In a container, where the receiver is process 1, the host name says it all; elsewhere several may share it. */
function processName(): string {
  return process.pid === 1 ? os.hostname() : `${os.hostname().slice(0, 50)}-${process.pid}`;
}

/**
 * Turns a tree of settings, as YAML or JSON give it, into the frozen configuration. Null means "not set": the
 * default applies, and an entry of a map is removed. Throws `ConfigError` with every fault at once.
 */
export function parseConfig(raw: unknown, surroundings: Surroundings = NOWHERE): Config {
  const { settings, faults } = readSettings(raw, surroundings);
  if (settings === null || faults.length > 0) throw new ConfigError(faults);
  return freeze({
    ...settings,
    replicaName: settings.replicaName ?? replicaName(surroundings.hostName),
    capture: { rescueFolder: path.resolve(settings.capture.rescueFolder ?? rescueFolder(surroundings.env)) },
  });
}

/** One per user, whatever the working folder: the next command must find what a killed one left. */
function rescueFolder(env: Environment): string {
  const state = env.XDG_STATE_HOME || path.join(env.HOME || homeFolder(), '.local', 'state');
  return path.join(state, 'transcript-receiver', 'captures');
}

/** Containers may run under a user that nobody has written down. */
function homeFolder(): string {
  try {
    return os.homedir();
  } catch {
    return '.';
  }
}

function replicaName(hostName: string): string {
  const safe = hostName.replaceAll(/[^A-Za-z0-9.-]/g, '-').slice(0, 63);
  return /^[A-Za-z0-9]/.test(safe) ? safe : `replica-${safe}`.slice(0, 63);
}

function freeze<T>(value: T): DeepReadonly<T> {
  if (typeof value === 'object' && value !== null) {
    for (const entry of Object.values(value)) freeze(entry);
    Object.freeze(value);
  }
  return value as DeepReadonly<T>;
}

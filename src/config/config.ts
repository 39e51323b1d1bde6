import { closeSync, openSync, readSync } from 'node:fs';
import os from 'node:os';
import { isJsonObject } from '../lib/text/parse-json.js';
import { ConfigError } from './config-error.js';
import type { Environment } from './load/environment.js';
import { readSettings } from './load/read-settings.js';
import { MAX_SECRET_BYTES, type RuntimeContext } from './load/resolve-secrets.js';
import { loadSettings } from './load-settings.js';
import type { Settings } from './schema.js';

type DeepReadonly<T> = T extends readonly (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** Sizes in bytes, durations in milliseconds, times in milliseconds since 1970; null means not set. */
export type Config = DeepReadonly<
  Omit<Settings, 'replicaName'> & {
    replicaName: string;
    /** The key prefixes of all sources, each once. */
    keyPrefixes: string[];
  }
>;

/** Context for a configuration without references to secrets. */
const NO_CONTEXT: RuntimeContext = {
  env: {},
  readFile: () => {
    throw new Error('files cannot be read here');
  },
  hostName: 'receiver',
};

/**
 * The parts of the configuration whose secrets a command needs. A CronJob that fetches results, for instance, needs neither operators'
 * tokens nor the header lines of credentials; one that only compares the store needs no key of the service.
 */
export type Needs = 'everything' | 'service and subscribers' | 'service' | 'store';

/**
 * The configuration of this process, from the package's `config/`, NODE_CONFIG_DIR, NODE_CONFIG and mapped
 * environment variables. Throws `ConfigError` with every fault at once.
 */
export function loadConfig(needs: Needs, env: Environment = process.env): Config {
  const { tree, ...about } = loadSettings(env);
  return parseConfig(settingsFor(needs, tree), { ...contextOf(env), ...about });
}

/**
 * The store settings of another configuration, read from the files in `folder`. Environment variables that hold settings belong to this
 * process and are ignored; others may hold secrets that the files name.
 */
export function loadStoreConfigOf(folder: string): Config {
  const others = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('TR_') && name !== 'NODE_CONFIG',
  );
  return loadConfig('store', { ...Object.fromEntries(others), NODE_CONFIG_DIR: folder });
}

/** The tree without the secrets that are not needed. */
export function settingsFor(needs: Needs, tree: unknown): unknown {
  if (needs === 'everything' || !isJsonObject(tree)) return tree;
  const { admin: _, subscribers, sources, speech, ...others } = tree;
  const sends = needs === 'service and subscribers';
  return {
    ...others,
    subscribers: sends || !isJsonObject(subscribers) ? subscribers : eachObject(subscribers, withoutSecrets),
    sources: isJsonObject(sources) ? eachObject(sources, withoutHeaders) : sources,
    speech: needs === 'store' && isJsonObject(speech) ? { ...speech, apiKey: null } : speech,
  };
}

/** Keeps names and times of credentials, so that expiring ones can be reported. */
function withoutHeaders(source: Record<string, unknown>): Record<string, unknown> {
  const { credentials } = source;
  return {
    ...source,
    ...(isJsonObject(credentials) && {
      // Two credentials of a source may not have the same header lines.
      credentials: eachObject(credentials, (credential, name) => ({
        ...credential,
        headers: [`X-Not-Read: ${UNUSED_SECRET}${name}`],
      })),
    }),
    // Without a listener no source can be too open, so the rule that asks for credentials does not apply.
    allowUnauthenticated: true,
  };
}

/** Keeps names and filters of subscribers, so that their progress can be reported. */
function withoutSecrets(subscriber: Record<string, unknown>): Record<string, unknown> {
  return { ...subscriber, url: 'https://not-read.invalid', secrets: [UNUSED_SECRET] };
}

function eachObject(
  map: Record<string, unknown>,
  change: (entry: Record<string, unknown>, name: string) => Record<string, unknown>,
): Record<string, unknown> {
  const entries = Object.entries(map).map(([name, entry]) => [
    name,
    isJsonObject(entry) ? change(entry, name) : entry,
  ]);
  return Object.fromEntries(entries);
}

const UNUSED_SECRET = `whsec_${Buffer.alloc(32).toString('base64')}`;

function contextOf(env: Environment): RuntimeContext {
  return { env, readFile: readBeginning, hostName: processName() };
}

/** Reads just enough to detect a file that is too long: a device may have no end. */
function readBeginning(path: string): string {
  const bytes = Buffer.alloc(MAX_SECRET_BYTES + 1);
  const file = openSync(path, 'r');
  try {
    let length = 0;
    for (let read = -1; read !== 0; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null);
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}

/** The host name is unique in a container, where the receiver is process 1; elsewhere several processes may share it. */
function processName(): string {
  return process.pid === 1 ? os.hostname() : `${os.hostname().slice(0, 50)}-${process.pid}`;
}

/**
 * Turns a tree of settings, as YAML or JSON give it, into the frozen configuration. Null means "not set": the
 * default applies, and an entry of a map is removed. Throws `ConfigError` with every fault at once.
 */
export function parseConfig(raw: unknown, context: RuntimeContext = NO_CONTEXT): Config {
  const { settings, faults } = readSettings(raw, context);
  if (settings === null || faults.length > 0) throw new ConfigError(faults);
  return freeze({
    ...settings,
    replicaName: settings.replicaName ?? replicaName(context.hostName),
    keyPrefixes: [...new Set(Object.values(settings.sources).map(({ keyPrefix }) => keyPrefix))],
  });
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

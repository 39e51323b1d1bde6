import { Agent, type Dispatcher } from 'undici';
import { createConnect } from '../lib/outbound/connect.js';
import { NO_PROXIES, type ProxySettings } from '../lib/outbound/proxy-settings.js';
import { type Clock, systemClock } from '../lib/time/clock.js';
import { createJobsClient, DEFAULT_PATHS, type JobPaths, type JobsClient } from './batch/jobs-client.js';
import { createRateLimiter } from './http/rate-limiter.js';
import { RETRY_DEFAULTS, type RetryPolicy } from './http/retry-policy.js';
import { type Credentials, createTransport, type Transport } from './http/transport.js';
import { createKeysClient, type KeysClient } from './keys-client.js';
import { SpeechError } from './speech-error.js';
import { temporaryKeyCredentials } from './temporary-key-credentials.js';

export type {
  ItemKind,
  JobDocument,
  KnownContentToken,
  RetrievableKind,
  TranscriptFormat,
  TranscriptKind,
} from '../domain/kinds.js';
export { type ProxySettings, readProxySettings } from '../lib/outbound/proxy-settings.js';
export type { Clock } from '../lib/time/clock.js';
export type { Backoff } from '../lib/time/retry.js';
export type { JobPage } from './batch/job-pages.js';
export type { JobPaths, JobsClient, ListOptions } from './batch/jobs-client.js';
export type { Download } from './http/download.js';
export type { RetryPolicy } from './http/retry-policy.js';
export type { KeysClient, TemporaryKey, TemporaryKeyOrder } from './keys-client.js';
export { SpeechError, type SpeechErrorDetails, type SpeechErrorKind } from './speech-error.js';
export type * from './wire.js';

/** Options of the clients. Times in milliseconds. */
export interface SpeechOptions {
  /** Long-lived API key. */
  readonly apiKey: string | null;
  /** Call the jobs API with the key itself (the default) or with short-lived keys made from it. */
  readonly auth?: 'apiKey' | 'temporaryKey';
  /** Lifetime of temporary keys, 60 s to 24 h. Default 10 minutes. */
  readonly temporaryKeyTtl?: number;
  /** Binds temporary keys to one end-user: only that reference's jobs are visible. */
  readonly clientRef?: string;
  readonly keysUrl?: string | URL | null;
  readonly regions: RegionAddresses;
  readonly paths?: Partial<JobPaths>;
  /** Per region. Default 20; the service advises to stay below 50. */
  readonly maxRequestsPerSecond?: number;
  /** Time to the first byte of a response, and longest silence within one. Default 30 s. */
  readonly requestTimeout?: number;
  /** Slowest download, judged over `requestTimeout` of waiting for it. Default 1024; 0 turns the check off. */
  readonly minBytesPerSecond?: number;
  /** Retries after 429, 5xx and network errors. Default 4. */
  readonly retries?: number;
  readonly retry?: Partial<Omit<RetryPolicy, 'retries'>>;
  /** Proxies that requests go through, such as `readProxySettings(process.env)`. Default: none. */
  readonly proxies?: ProxySettings;
  /** Replaces the connection pool; the caller closes it. */
  readonly dispatcher?: Dispatcher;
  readonly clock?: Clock;
}

export interface SpeechClients {
  /** Regions with an address. */
  readonly regions: readonly string[];
  /** Client of the key service. Throws `SpeechError` (`configuration`) without `keysUrl` or API key. */
  keys(): KeysClient;
  /** Client of a region; the same one every time. Throws `SpeechError` (`configuration`) for regions unknown or without address. */
  jobs(region: string): JobsClient;
  /** Ends all connections, downloads included, and pauses before further attempts. Idempotent. */
  close(): Promise<void>;
}

/**
 * Clients of the speech service that share connections and credentials. Nothing is sent before the first call.
 *
 * @example
 * const clients = createSpeechClients({ apiKey, regions: { eu1: { batchUrl: 'https://eu1.speech.example.com' } } });
 * const { status } = await clients.jobs('eu1').record('650krlru2e');
 * await clients.close();
 */
export function createSpeechClients(options: SpeechOptions): SpeechClients {
  const clock = options.clock ?? systemClock;
  const connect = createConnect({ timeout: 10_000, proxies: options.proxies ?? NO_PROXIES });
  const own = new Agent({ connect, connections: 32, allowH2: false });
  const dispatcher = options.dispatcher ?? own;
  const perSecond = options.maxRequestsPerSecond ?? 20;
  const closing = new AbortController();
  const retry = { ...RETRY_DEFAULTS, ...options.retry, retries: options.retries ?? RETRY_DEFAULTS.retries };

  const transportWith = (credentials: Credentials): Transport =>
    createTransport({
      dispatcher,
      credentials,
      limiter: createRateLimiter({ perSecond, maxPauseMs: retry.maxPauseMs }, options.clock),
      retry,
      closing: closing.signal,
      clock,
      requestTimeout: options.requestTimeout ?? 30_000,
      minBytesPerSecond: options.minBytesPerSecond ?? 1024,
    });

  const keys = once(() => {
    if (!options.keysUrl) throw missing('keysUrl');
    const transport = transportWith(apiKeyCredentials(options));
    return createKeysClient(webAddress(options.keysUrl, 'keysUrl'), transport);
  });

  const credentials = once((): Credentials => {
    if (options.auth !== 'temporaryKey') return apiKeyCredentials(options);
    const order = {
      type: 'batch' as const,
      ttlSeconds: Math.floor((options.temporaryKeyTtl ?? 600_000) / 1000),
      ...(options.clientRef === undefined ? {} : { clientRef: options.clientRef }),
    };
    return temporaryKeyCredentials(keys(), order, clock);
  });

  const clients = new Map<string, JobsClient>();
  return {
    regions: configuredRegions(options.regions),
    keys,
    jobs(region) {
      const known = clients.get(region);
      if (known) return known;
      const address = batchAddress(region, options.regions);
      const paths = { ...DEFAULT_PATHS, ...options.paths };
      const made = createJobsClient(region, address, paths, transportWith(credentials()));
      clients.set(region, made);
      return made;
    },
    async close() {
      closing.abort();
      await own.destroy();
    },
  };
}

function apiKeyCredentials(options: SpeechOptions): Credentials {
  const apiKey = requireKey(options);
  return { token: async () => apiKey, rejected: () => false };
}

function requireKey({ apiKey }: SpeechOptions): string {
  if (!apiKey) throw missing('apiKey');
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new SpeechError('configuration', 'set up', 'apiKey holds characters no key can have');
  }
  return apiKey;
}

function missing(name: string): SpeechError {
  return new SpeechError('configuration', 'set up', `${name} is not configured`);
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Addresses of the jobs API by region, without `/v2`; null or absent for regions not in use. */
export type RegionAddresses = Readonly<
  Record<string, { readonly batchUrl?: string | URL | null | undefined }>
>;

/**
 * Regions that have an address.
 *
 * @example
 * const regions = configuredRegions({ eu1: { batchUrl }, us1: {} }); // ['eu1']
 */
export function configuredRegions(addresses: RegionAddresses): string[] {
  return Object.keys(addresses).filter((region) => addresses[region]?.batchUrl);
}

/**
 * The region's address. Throws `SpeechError` of kind `configuration` with the regions that have one.
 *
 * @example
 * const address = batchAddress('eu1', { eu1: { batchUrl } });
 */
export function batchAddress(region: string, addresses: RegionAddresses): URL {
  const configured = configuredRegions(addresses);
  const address = configured.includes(region) ? addresses[region]?.batchUrl : null;
  if (!address) {
    const others =
      configured.length === 0 ? 'no region has one' : `regions with one are ${configured.join(', ')}`;
    throw fault(`no batchUrl is configured for region ${JSON.stringify(region)}; ${others}`);
  }
  return webAddress(address, `batchUrl of region ${region}`);
}

/**
 * A plain http(s) address. A user name in it would end up in logs, a query would be lost.
 *
 * @example
 * const keysUrl = webAddress('https://keys.speech.example.com', 'keysUrl');
 */
export function webAddress(address: string | URL, name: string): URL {
  const url = URL.canParse(String(address)) ? new URL(address) : null;
  if (!url || !/^https?:$/.test(url.protocol)) throw fault(`${name} is no http or https address`);
  if (url.username || url.password || url.search || url.hash) {
    throw fault(`${name} must hold neither user name nor query`);
  }
  return url;
}

function fault(text: string): SpeechError {
  return new SpeechError('configuration', 'find endpoint', text);
}

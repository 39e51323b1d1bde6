import { isIP } from 'node:net';
import { CREDENTIAL_NOTICE } from '../../domain/credential-notice.js';
import { parseHeaderLine, secretPart } from '../../lib/text/header-line.js';
import type { Config } from '../config.js';
import { isProduction } from '../load/environment.js';
import { formatDuration, formatSize } from '../units.js';
import { isLoopback } from './loopback.js';

type Source = Config['sources'][string];

/** Characters; shorter secrets could be guessed. */
const STRONG = 16;

/** `now` is in milliseconds since 1970. */
interface WarningOptions {
  readonly now: number;
  readonly production: boolean;
}

/** The warnings of this process's configuration, now. */
export function warningsOfProcess(config: Config): string[] {
  return configWarnings(config, { now: Date.now(), production: isProduction() });
}

/** Messages about settings that are valid but need an operator's attention. */
export function configWarnings(config: Config, { now, production }: WarningOptions): string[] {
  return [
    ...Object.entries(config.sources).flatMap(([name, source]) => sourceWarnings(name, source, now)),
    ...sharedPrefixWarnings(config),
    ...proxyWarnings(config),
    ...publicUrlWarnings(config),
    ...unaskedRegionWarnings(config),
    ...clearTextWarnings(config),
    ...(production && config.store.url.startsWith('file:')
      ? [
          `store.url is ${config.store.url} in production: all replicas must share that folder, and the data is only as safe as its disk; use a bucket (s3://...) unless this is intended`,
        ]
      : []),
    ...memoryWarnings(config),
    ...(config.store.s3.conditionalWrites === 'emulated'
      ? [
          'store.s3.conditionalWrites is emulated: simultaneous deliveries of one artefact may overwrite each other',
        ]
      : []),
  ];
}

/** The first write of a key wins, whichever source it came through. */
function sharedPrefixWarnings({ sources }: Config): string[] {
  const prefixes = new Set(Object.values(sources).map(({ keyPrefix }) => keyPrefix));
  return [...prefixes].flatMap((prefix) => {
    const sharing = Object.entries(sources).filter(([, { keyPrefix }]) => keyPrefix === prefix);
    if (sharing.length < 2) return [];
    const names = sharing.map(([name]) => `sources.${name}`).join(', ');
    return [
      `${names} share the keyPrefix ${JSON.stringify(prefix)}: a sender of one can write the keys of another one's jobs first`,
    ];
  });
}

/** With /callbacks twice, jobs would get an address that nobody serves, and recovery would look for jobs with it. */
function publicUrlWarnings({ receiver: { publicUrl } }: Config): string[] {
  if (publicUrl === null || !/\/callbacks(\/[^/]*)?$/.test(publicUrl)) return [];
  return [
    `receiver.publicUrl is ${publicUrl}: /callbacks/<source> is appended to it; leave that out unless a proxy removes it`,
  ];
}

/** Where recovery is on, but not for every region that a source gets callbacks from. */
function unaskedRegionWarnings({ sources, speech, egress }: Config): string[] {
  const isAsked = (region: string) => (speech.regions[region]?.batchUrl ?? null) !== null;
  if (speech.apiKey === null || !Object.keys(speech.regions).some(isAsked)) return [];
  return Object.entries(sources).flatMap(([name, { allow }]) =>
    allow
      .filter((entry) => Object.hasOwn(egress.regions, entry) && !isAsked(entry))
      .map(
        (region) =>
          `sources.${name} admits ${region}, but speech.regions.${region}.batchUrl is not set: its lost callbacks are not noticed`,
      ),
  );
}

/** Prefix lengths of the widest private networks, 10.0.0.0/8 and fc00::/7. */
const WIDEST = { 4: 8, 6: 7 };

function proxyWarnings({ receiver }: Config): string[] {
  const wide = receiver.trustedProxies.filter((cidr) => {
    const [address = '', bits] = cidr.split('/');
    return Number(bits) < WIDEST[isIP(address) === 6 ? 6 : 4];
  });
  return wide.map(
    (cidr) =>
      `receiver.trustedProxies holds ${cidr}, which is wider than any private network: every host in it can claim any client address`,
  );
}

/** Clear-text addresses to which a key, a token or an event is sent. */
function clearTextWarnings({ receiver, speech, subscribers }: Config): string[] {
  const carrying: readonly (readonly [place: string, address: string | null, what: string])[] = [
    ['receiver.publicUrl', receiver.publicUrl, 'the credentials of senders'],
    ['speech.keysUrl', speech.keysUrl, 'speech.apiKey'],
    ...Object.entries(speech.regions).map(
      ([region, { batchUrl }]) => [`speech.regions.${region}.batchUrl`, batchUrl, 'speech.apiKey'] as const,
    ),
    ...Object.entries(speech.realtime).map(
      ([host, address]) => [`speech.realtime.${host}`, address, 'speech.apiKey'] as const,
    ),
    ...Object.entries(subscribers).map(
      ([name, { url }]) => [`subscribers.${name}.url`, url, 'the address and its events'] as const,
    ),
  ];
  return carrying.flatMap(([place, address, what]) =>
    address !== null && isClearText(address)
      ? [`${place} is not encrypted: ${what} can be read in transit; use https or wss`]
      : [],
  );
}

function isClearText(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return (protocol === 'http:' || protocol === 'ws:') && !isLoopback(hostname.replace(/^\[|\]$/g, ''));
}

/** Parts of one delivery in memory at a time: one being filled and three being uploaded. */
const PARTS_AT_A_TIME = 4;

function memoryWarnings({ limits, store }: Config): string[] {
  const room = limits.memoryBudget - PARTS_AT_A_TIME * store.partSize;
  if (limits.quarantineBytes <= Math.max(room, store.partSize)) return [];
  return [
    `limits.quarantineBytes ${formatSize(limits.quarantineBytes)} and four parts of store.partSize are more than limits.memoryBudget: ` +
      'undecodable bodies of that size are answered 503 instead of being kept',
  ];
}

function sourceWarnings(name: string, source: Source, now: number): string[] {
  const place = `sources.${name}`;
  const credentials = Object.entries(source.credentials);
  const warnings: string[] = [];
  if (credentials.length === 0) {
    warnings.push(
      source.allow.some((entry) => entry === 'any' || entry.endsWith('/0')) || source.allowMode === 'report'
        ? `${place} has no credentials and admits every address: anyone who can reach it can write into the archive`
        : `${place} has no credentials: it accepts every request that its allowlist admits`,
    );
  } else {
    warnings.push(...noneValidWarnings(place, Object.values(source.credentials), now));
  }
  if (source.allowUnauthenticated && credentials.length > 0) {
    warnings.push(`${place}.allowUnauthenticated has no effect beside credentials: they are required`);
  }
  if (source.allow.length === 0 && source.allowMode === 'enforce') {
    warnings.push(`${place}.allow is empty, so nothing is accepted`);
  }
  if (source.allowMode === 'report')
    warnings.push(`${place}.allowMode is report: addresses are not enforced`);
  for (const [credentialName, credential] of credentials)
    warnings.push(...credentialWarnings(`${place}.credentials.${credentialName}`, credential, now));
  return warnings;
}

function noneValidWarnings(
  place: string,
  credentials: readonly Source['credentials'][string][],
  now: number,
): string[] {
  const current = credentials.filter(({ expires }) => expires === null || expires > now);
  const begins = current.map(({ notBefore }) => notBefore ?? now);
  if (begins.some((begin) => begin <= now)) return [];
  return begins.length === 0
    ? [`${place}: every credential has expired, so nothing is accepted`]
    : [
        `${place}: no credential is valid before ${new Date(Math.min(...begins)).toISOString()}, so nothing is accepted until then`,
      ];
}

function credentialWarnings(
  place: string,
  { headers, expires }: Source['credentials'][string],
  now: number,
): string[] {
  const warnings: string[] = [];
  if (headers.every((line) => secretLength(line) < STRONG)) {
    warnings.push(`${place} is shorter than ${STRONG} characters: easy to guess`);
  }
  for (const header of headers.map(nameOf).filter((each) => each.includes('_'))) {
    warnings.push(
      `${place}: nginx, Apache and Envoy drop ${header}, because its name has an underscore; use hyphens`,
    );
  }
  if (expires === null || expires - now > CREDENTIAL_NOTICE) return warnings;
  const verb = expires <= now ? 'expired' : `expires within ${formatDuration(CREDENTIAL_NOTICE)}`;
  return [...warnings, `${place} ${verb} (${new Date(expires).toISOString()})`];
}

const nameOf = (line: string) => line.slice(0, line.indexOf(':'));

function secretLength(line: string): number {
  const parsed = parseHeaderLine(line);
  return 'fault' in parsed ? 0 : secretPart(parsed).length;
}

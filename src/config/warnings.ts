import type { Config } from '../config.js';
import { parseHeaderLine, secretPart } from '../domain/header-line.js';
import { formatDuration, formatSize } from './units.js';

type Source = Config['sources'][string];

/** A credential that ends within this time is worth a word at start. */
const SOON = 7 * 86_400_000;

/** A stranger must not be able to guess a secret, however fast he tries; in characters. */
const STRONG = 16;

/** What is allowed but deserves an operator's attention, in sentences; `now` in milliseconds since 1970. */
export function configWarnings(config: Config, now: number): string[] {
  return [
    ...Object.entries(config.sources).flatMap(([name, source]) => sourceWarnings(name, source, now)),
    ...Object.entries(config.admin.tokens).flatMap(([name, token]) =>
      token.length < STRONG
        ? [`admin.tokens.${name} is shorter than ${STRONG} characters: easy to guess`]
        : [],
    ),
    ...memoryWarnings(config),
    ...(config.store.s3.conditionalWrites === 'emulated'
      ? [
          'store.s3.conditionalWrites is emulated: simultaneous deliveries of one artefact may overwrite each other',
        ]
      : []),
  ];
}

/** Parts of one delivery that are in memory at a time: one that fills and three on their way. */
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
      source.allow.includes('any') || source.allowMode === 'report'
        ? `${place} has no credentials and admits every address: anyone who can reach it can write into the archive`
        : `${place} has no credentials: it accepts everything its allowlist admits`,
    );
  } else if (
    credentials.every(([, credential]) => credential.expires !== null && credential.expires <= now)
  ) {
    warnings.push(`${place}: every credential has expired, so nothing is accepted`);
  }
  if (source.allow.length === 0 && source.allowMode === 'enforce') {
    warnings.push(`${place}.allow is empty, so nothing is accepted`);
  }
  if (source.allowMode === 'report')
    warnings.push(`${place}.allowMode is report: addresses are not enforced`);
  for (const [credentialName, { headers, expires }] of credentials) {
    if (headers.every((line) => secretLength(line) < STRONG)) {
      warnings.push(
        `${place}.credentials.${credentialName} is shorter than ${STRONG} characters: easy to guess`,
      );
    }
    if (expires === null || expires - now > SOON) continue;
    const end = new Date(expires).toISOString();
    warnings.push(
      `${place}.credentials.${credentialName} ${expires <= now ? 'expired' : `expires within ${formatDuration(SOON)}`} (${end})`,
    );
  }
  return warnings;
}

function secretLength(line: string): number {
  const parsed = parseHeaderLine(line);
  return 'fault' in parsed ? 0 : secretPart(parsed).length;
}

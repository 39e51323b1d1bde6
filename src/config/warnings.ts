import type { Config } from '../config.js';
import { formatDuration } from './units.js';

type Source = Config['sources'][string];

/** A credential that ends within this time is worth a word at start. */
const SOON = 7 * 86_400_000;

/** What is allowed but deserves an operator's attention, in sentences; `now` in milliseconds since 1970. */
export function configWarnings(config: Config, now: number): string[] {
  return [
    ...Object.entries(config.sources).flatMap(([name, source]) => sourceWarnings(name, source, now)),
    ...(config.store.s3.conditionalWrites === 'emulated'
      ? [
          'store.s3.conditionalWrites is emulated: simultaneous deliveries of one artefact may overwrite each other',
        ]
      : []),
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
  for (const [credentialName, { expires }] of credentials) {
    if (expires === null || expires - now > SOON) continue;
    const end = new Date(expires).toISOString();
    warnings.push(
      `${place}.credentials.${credentialName} ${expires <= now ? 'expired' : `expires within ${formatDuration(SOON)}`} (${end})`,
    );
  }
  return warnings;
}

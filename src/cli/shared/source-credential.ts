import type { Config } from '../../config/config.js';
import { defaultSource } from '../../operations/actions/default-source.js';
import { UsageError } from './exit-codes.js';

type Source = Config['sources'][string];

/** The name, else `default` or the only source. Throws `UsageError` when several are possible. */
export function chosenSource(config: Config, name: string | undefined): string {
  const names = Object.keys(config.sources);
  const chosen = name ?? defaultSource(names);
  if (chosen === null) throw new UsageError(`name one of the sources: ${names.join(', ')}`);
  return chosen;
}

/** The source with this name. Throws `UsageError` with the known names. */
export function sourceNamed(config: Config, name: string): Source {
  const source = config.sources[name];
  if (source === undefined || !Object.hasOwn(config.sources, name)) {
    throw new UsageError(
      `unknown source ${name}; configured sources are ${Object.keys(config.sources).join(', ')}`,
    );
  }
  return source;
}

/**
 * Header lines of the requested credential, or of the valid one that expires last, among equals the last listed; empty
 * for a source without credentials. Throws `UsageError` when no credential is valid.
 */
export function credentialHeaders(
  source: Source,
  wanted: string | undefined,
  now: number,
): readonly string[] {
  if (wanted !== undefined) {
    const credential = Object.hasOwn(source.credentials, wanted) ? source.credentials[wanted] : undefined;
    if (credential === undefined) throw new UsageError(`the source has no credential ${wanted}`);
    return credential.headers;
  }
  const all = Object.values(source.credentials);
  const valid = all.filter(
    ({ notBefore, expires }) => (notBefore ?? now) <= now && now < (expires ?? Infinity),
  );
  if (all.length > 0 && valid.length === 0) throw new UsageError('no credential of the source is valid now');
  const lasting = valid
    .toReversed()
    .toSorted((a, b) => (b.expires ?? Infinity) - (a.expires ?? Infinity) || 0);
  return lasting[0]?.headers ?? [];
}

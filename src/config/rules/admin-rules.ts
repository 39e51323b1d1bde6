import type { SettingPath } from '../config-error.js';
import type { Settings } from '../schema.js';
import type { BrokenRule, RuleContext } from './broken-rule.js';
import { isLoopback } from './loopback.js';
import { nearest } from './nearest.js';
import { repeated } from './repeated.js';

/** Minimum length of an admin token, in characters, except on loopback in development. */
export const STRONG_TOKEN = 20;

export function* tokenRules({ admin }: Settings, { production }: RuleContext): Generator<BrokenRule> {
  if (!isLoopback(admin.host) && Object.keys(admin.tokens).length === 0) {
    yield {
      path: ['admin', 'tokens'],
      expected: `at least one token, because ${hostOf(admin)} is not loopback`,
      also: [['admin', 'host']],
    };
  }
  const reachable = !isLoopback(admin.host);
  for (const [name, { token }] of Object.entries(admin.tokens)) {
    if (token.length >= STRONG_TOKEN || !(production || reachable)) continue;
    yield {
      path: ['admin', 'tokens', name],
      expected: `a token of at least ${STRONG_TOKEN} characters ${reachable ? `because ${hostOf(admin)} is not loopback` : 'in production'}; openssl rand -base64 24 makes one`,
      also: [['admin', 'host']],
    };
  }
  for (const [first, second] of repeated(Object.entries(admin.tokens), ([, { token }]) => token)) {
    yield { path: ['admin', 'tokens', second[0]], expected: `another token than ${first[0]} has` };
  }
}

function hostOf({ host }: Settings['admin']): string {
  return host === '' ? 'an empty admin.host' : `admin.host ${host}`;
}

/** A misspelt source would show an empty page, which reads as good news. */
export function* scopeRules({ admin, sources }: Settings): Generator<BrokenRule> {
  const known = Object.keys(sources);
  for (const [name, token] of Object.entries(admin.tokens)) {
    yield* unknownSources(token.sources, known, ['admin', 'tokens', name, 'sources']);
  }
}

function* unknownSources(
  names: readonly string[],
  known: readonly string[],
  path: SettingPath,
): Generator<BrokenRule> {
  for (const [index, source] of names.entries()) {
    if (known.includes(source)) continue;
    const guess = nearest(source, known);
    const advice = guess === null ? known.join(', ') : `did you mean ${guess}?`;
    yield { path: [...path, index], expected: `a configured source; ${advice}`, also: [['sources']] };
  }
}

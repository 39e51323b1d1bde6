import type { BrokenRule, RuleContext } from './broken-rule.js';
import type { SettingPath } from './config-error.js';
import { isLoopback } from './loopback.js';
import { nearest } from './nearest.js';
import { repeated } from './repeated.js';
import type { Settings } from './schema.js';

/** Minimum length of an admin token, in characters, except on loopback in development. */
export const STRONG_TOKEN = 20;

export function* tokenRules({ admin }: Settings, { production }: RuleContext): Generator<BrokenRule> {
  if (!isLoopback(admin.host) && Object.keys(admin.tokens).length === 0) {
    yield {
      path: ['admin', 'tokens'],
      expected: `at least one token, because admin.host ${admin.host} is not loopback`,
      also: [['admin', 'host']],
    };
  }
  const reachable = !isLoopback(admin.host);
  for (const [name, { token }] of Object.entries(admin.tokens)) {
    if (token.length >= STRONG_TOKEN || !(production || reachable)) continue;
    yield {
      path: ['admin', 'tokens', name],
      expected: `a token of at least ${STRONG_TOKEN} characters ${reachable ? `because admin.host ${admin.host} is not loopback` : 'in production'}; openssl rand -base64 24 makes one`,
      also: [['admin', 'host']],
    };
  }
  for (const [first, second] of repeated(Object.entries(admin.tokens), ([, { token }]) => token)) {
    yield { path: ['admin', 'tokens', second[0]], expected: `another token than ${first[0]} has` };
  }
}

export function* proxyRules({ admin }: Settings): Generator<BrokenRule> {
  const { userHeader, groupsHeader, users, groups } = admin.proxyAuth;
  const at = (name: string) => ['admin', 'proxyAuth', name];
  if (userHeader === null) {
    for (const [name, value] of Object.entries({ groupsHeader, users, groups })) {
      if (value === null || (typeof value === 'object' && Object.keys(value).length === 0)) continue;
      yield { path: at('userHeader'), expected: `the header with the user's name, because ${name} is set` };
      return;
    }
    return;
  }
  if (admin.trustedProxies.length === 0) {
    yield {
      path: ['admin', 'trustedProxies'],
      expected: 'the addresses of the proxy, because admin.proxyAuth.userHeader is set',
      also: [at('userHeader')],
    };
  }
  if (Object.keys(groups).length > 0 && groupsHeader === null) {
    yield { path: at('groupsHeader'), expected: 'the header with the groups, because groups is set' };
  }
  if (Object.keys(users).length + Object.keys(groups).length === 0) {
    yield { path: at('users'), expected: 'at least one user or group, or nobody may anything' };
  }
}

export function* tlsRules({ admin }: Settings): Generator<BrokenRule> {
  const { cert, key } = admin.tls;
  if ((cert === null) === (key === null)) return;
  const missing = cert === null ? 'cert' : 'key';
  yield { path: ['admin', 'tls', missing], expected: 'to be set: HTTPS needs a certificate and its key' };
}

/** A misspelt source would show an empty page, which reads as good news. */
export function* scopeRules({ admin, sources }: Settings): Generator<BrokenRule> {
  const known = Object.keys(sources);
  for (const [name, token] of Object.entries(admin.tokens)) {
    yield* unknownSources(token.sources, known, ['admin', 'tokens', name, 'sources']);
  }
  for (const map of ['users', 'groups'] as const) {
    for (const [name, grant] of Object.entries(admin.proxyAuth[map])) {
      yield* unknownSources(grant.sources, known, ['admin', 'proxyAuth', map, name, 'sources']);
    }
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

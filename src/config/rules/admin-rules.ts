import type { SettingPath } from '../config-error.js';
import type { Settings } from '../schema.js';
import type { BrokenRule } from './broken-rule.js';
import { isLoopback } from './loopback.js';
import { repeated } from './repeated.js';

export function* tokenRules({ admin }: Settings): Generator<BrokenRule> {
  if (!isLoopback(admin.host) && Object.keys(admin.tokens).length === 0) {
    yield {
      path: ['admin', 'tokens'],
      expected: `at least one token, because ${hostOf(admin)} is not loopback`,
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

/** A misspelt source would show an empty page, or send no event, which reads as good news. */
export function* scopeRules({ admin, subscribers, sources }: Settings): Generator<BrokenRule> {
  const known = Object.keys(sources);
  const scopes: (readonly [SettingPath, { readonly sources: readonly string[] }])[] = [
    ...Object.entries(admin.tokens).map(([name, token]) => [['admin', 'tokens', name], token] as const),
    ...Object.entries(subscribers).map(([name, each]) => [['subscribers', name], each] as const),
  ];
  for (const [path, scope] of scopes) {
    for (const [index, source] of scope.sources.entries()) {
      if (known.includes(source)) continue;
      const expected = `a configured source (${known.join(', ')})`;
      yield { path: [...path, 'sources', index], expected, also: [['sources']] };
    }
  }
}

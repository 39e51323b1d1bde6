import { describe, expect, it } from '@jest/globals';
import { type Config, parseConfig } from '../../../src/config/config.js';
import { ConfigError, renderFault } from '../../../src/config/config-error.js';

const around = (NODE_ENV: string) => ({ env: { NODE_ENV }, readFile: () => '', hostName: 'here' });
const inProduction = (raw: unknown): Config => parseConfig(raw, around('production'));
const intake = { credentials: { main: { headers: ['X-Callback-Token: a-secret-of-good-length'] } } };

function faultsOf(raw: unknown, environment = 'production'): string {
  try {
    parseConfig(raw, around(environment));
    return '';
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map(renderFault).join('\n');
  }
}

describe('the built-in source', () => {
  it.each(['development', 'test'])('is there in %s while no source is configured', (environment) => {
    expect(Object.keys(parseConfig({ sources: {} }, around(environment)).sources)).toEqual(['default']);
    expect(parseConfig({}, around(environment)).sources.default?.allow).toEqual(['127.0.0.0/8', '::1']);
  });

  it('is absent when another source is configured, in any environment', () => {
    for (const environment of ['production', 'development']) {
      expect(Object.keys(parseConfig({ sources: { intake } }, around(environment)).sources)).toEqual([
        'intake',
      ]);
    }
  });

  it.each(['production', 'staging', 'eu,production', 'development,production'])(
    'is not there in %s',
    (environment) => {
      expect(faultsOf({}, environment)).toMatch(/^sources: .*at least one source, such as intake: \{/);
      expect(faultsOf({ sources: null }, environment)).toMatch(/^sources: /);
    },
  );

  it('does not come back where it was removed', () => {
    expect(faultsOf({ sources: { default: null } }, 'development')).toMatch(
      /^sources: .*at least one source/,
    );
  });
});

describe('a source without credentials', () => {
  it('does not start in production, and the fault says what to write', () => {
    const fault = faultsOf({ sources: { intake: { allow: ['eu1'] } } });
    expect(fault).toMatch(/^sources\.intake\.credentials: expected a credential such as main: \{ headers: /);
    expect(fault).toMatch(/or allowUnauthenticated: true/);
  });

  it('does not start in production when all its credentials were removed', () => {
    expect(faultsOf({ sources: { intake: { credentials: { old: null } } } })).toMatch(/^sources\.intake\./);
  });

  it('starts in production when that is said, and outside it', () => {
    expect(
      inProduction({ sources: { intake: { allowUnauthenticated: true } } }).sources.intake,
    ).toBeDefined();
    expect(faultsOf({ sources: { intake: {} } }, 'development')).toBe('');
  });

  it('is reported once when its credential is faulty', () => {
    const broken = { credentials: { main: { headers: ['no colon'] } } };
    expect(faultsOf({ sources: { intake: broken } }).split('\n')).toHaveLength(1);
  });
});

describe('an admin token', () => {
  const withToken = (token: string) => ({ sources: { intake }, admin: { tokens: { ops: token } } });

  it.each(['production', 'development'])('has 20 characters or more in %s', (environment) => {
    expect(faultsOf(withToken('0123456789abcdefghi'), environment)).toMatch(
      /^admin\.tokens\.ops: expected a token of 20 to 4096 printable characters/,
    );
    expect(faultsOf(withToken('0123456789abcdefghij'), environment)).toBe('');
  });
});

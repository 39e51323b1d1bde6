import { describe, expect, it } from '@jest/globals';
import { secretValues } from '../../../src/config/secret-values.js';
import { configWarnings } from '../../../src/config/warnings.js';
import { parseConfig } from '../../../src/config.js';

const NOW = Date.parse('2026-01-15T00:00:00Z');
const headers = ['X-Token: a-secret-of-good-length'];
const warnings = (source: object) =>
  configWarnings(parseConfig({ sources: { default: source } }), NOW).join('\n');

describe('configWarnings', () => {
  it.each<[string, object, RegExp]>([
    ['no credentials', {}, /no credentials: it accepts everything its allowlist admits/],
    ['no credentials for any address', { allow: ['any'] }, /admits every address: anyone/],
    ['no credentials in report mode', { allowMode: 'report' }, /admits every address: anyone/],
    ['report mode', { allowMode: 'report', credentials: { a: { headers } } }, /not enforced/],
    [
      'a credential that is easy to guess',
      { credentials: { a: { headers: ['X-Token: only-14-chars-'] } } },
      /credentials\.a is shorter than 16/,
    ],
    ['an empty allowlist', { allow: [], credentials: { a: { headers } } }, /allow is empty/],
    [
      'only expired credentials',
      { credentials: { a: { headers, expires: '2026-01-01' } } },
      /every credential has expired/,
    ],
    [
      'a credential that ends soon',
      { credentials: { a: { headers, expires: '2026-01-20' } } },
      /expires within 7d/,
    ],
  ])('mentions %s', (_, source, expected) => {
    expect(warnings(source)).toMatch(expected);
  });

  it.each([
    [{ quarantineBytes: '33MiB' }, true],
    [{ quarantineBytes: '32MiB' }, false],
    [{ memoryBudget: '24MiB' }, false],
  ])('mentions quarantined bodies that leave no room to be received: %j', (limits, mentioned) => {
    const said = configWarnings(parseConfig({ limits }), NOW).join('\n');
    expect(said.includes('quarantineBytes')).toBe(mentioned);
  });

  it('is silent about a guarded source', () => {
    expect(warnings({ credentials: { a: { headers, expires: '2027-01-01' } }, allow: ['eu1'] })).toBe('');
  });
});

describe('secretValues', () => {
  it('gathers every secret, header values without their scheme', () => {
    const config = parseConfig({
      admin: { tokens: { ops: 'admin-token-0123456789' } },
      speech: { apiKey: 'service-key' },
      store: { s3: { accessKeyId: 'AKIA', secretAccessKey: 's3-secret', sessionToken: 'session' } },
      sources: {
        default: {
          credentials: { a: { headers: ['Authorization: Bearer bearer-secret-0123', ...headers] } },
        },
      },
    });
    expect(secretValues(config).sort()).toEqual(
      [
        'admin-token-0123456789',
        'service-key',
        's3-secret',
        'session',
        'bearer-secret-0123',
        'a-secret-of-good-length',
      ].sort(),
    );
  });
});

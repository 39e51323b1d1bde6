import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../../../src/config/config.js';
import { secretValues } from '../../../../src/config/load/secret-values.js';
import { configWarnings } from '../../../../src/config/rules/warnings.js';

const HERE = { now: Date.parse('2026-01-15T00:00:00Z'), production: false };
const PRODUCTION = { ...HERE, production: true };
const headers = ['X-Token: a-secret-of-good-length'];
const warnings = (source: object) =>
  configWarnings(parseConfig({ sources: { default: source } }), HERE).join('\n');

describe('configWarnings', () => {
  it.each<[string, object, RegExp]>([
    ['no credentials', {}, /no credentials: it accepts every request that its allowlist admits/],
    ['no credentials for any address', { allow: ['any'] }, /admits every address: anyone/],
    ['no credentials for a range of all addresses', { allow: ['0.0.0.0/0'] }, /admits every address: anyone/],
    ['no credentials in report mode', { allowMode: 'report' }, /admits every address: anyone/],
    ['report mode', { allowMode: 'report', credentials: { a: { headers } } }, /not enforced/],
    [
      'a credential that is easy to guess',
      { credentials: { a: { headers: ['X-Token: only-14-chars-'] } } },
      /credentials\.a is shorter than 16/,
    ],
    [
      'a header that balancers drop',
      { credentials: { a: { headers: ['X-Tenant: 1', 'X_Token: a-secret-of-good-length'] } } },
      /^sources\.default\.credentials\.a: nginx, Apache and Envoy drop X_Token, /m,
    ],
    ['an empty allowlist', { allow: [], credentials: { a: { headers } } }, /allow is empty/],
    [
      'only expired credentials',
      { credentials: { a: { headers, expires: '2026-01-01' } } },
      /every credential has expired/,
    ],
    [
      'credentials of which none is valid yet',
      {
        credentials: {
          a: { headers, expires: '2026-01-01' },
          b: { headers: ['X-Token: another-of-good-length'], notBefore: '2026-02-02' },
          c: { headers: ['X-Token: a-third-of-good-length'], notBefore: '2026-02-01' },
        },
      },
      /no credential is valid before 2026-02-01T00:00:00\.000Z/,
    ],
    [
      'a credential that ends soon',
      { credentials: { a: { headers, expires: '2026-01-28' } } },
      /expires within 14d/,
    ],
  ])('mentions %s', (_, source, expected) => {
    expect(warnings(source)).toMatch(expected);
  });

  it.each([
    [{ quarantineBytes: '33MiB' }, true],
    [{ quarantineBytes: '32MiB' }, false],
    [{ memoryBudget: '24MiB' }, false],
  ])('mentions quarantined bodies that leave no room to be received: %j', (limits, mentioned) => {
    const said = configWarnings(parseConfig({ limits }), HERE).join('\n');
    expect(said.includes('quarantineBytes')).toBe(mentioned);
  });

  it.each<[string, object, RegExp]>([
    [
      'sources that share a key prefix',
      { sources: { a: {}, b: {}, c: { keyPrefix: 'c' } } },
      /^sources\.a, sources\.b share the keyPrefix "": .* first$/m,
    ],
    [
      'a key service without TLS',
      { speech: { keysUrl: 'http://keys.example' } },
      /^speech\.keysUrl is not encrypted/m,
    ],
    [
      'a jobs API without TLS',
      { speech: { regions: { us1: { batchUrl: 'http://10.0.0.7:9100' } } } },
      /^speech\.regions\.us1\.batchUrl is not encrypted: speech\.apiKey/m,
    ],
    [
      'an admitted region that recovery does not ask',
      {
        sources: { a: { allow: ['eu1', 'us1', '10.0.0.0/8'] } },
        speech: { apiKey: 'api-key-1', regions: { eu1: { batchUrl: 'https://eu1.example' } } },
      },
      /^sources\.a admits us1, but speech\.regions\.us1\.batchUrl is not set: its lost callbacks are not noticed$/m,
    ],
    [
      'a realtime host without TLS',
      { speech: { realtime: { eu: 'ws://rt.example' } } },
      /^speech\.realtime\.eu is not/m,
    ],
    [
      'a subscriber without TLS',
      {
        subscribers: {
          crm: { url: 'http://crm.example', secrets: [`whsec_${Buffer.alloc(32).toString('base64')}`] },
        },
      },
      /^subscribers\.crm\.url is not encrypted/m,
    ],
    [
      'a public address without TLS',
      { receiver: { publicUrl: 'http://t.example' } },
      /^receiver\.publicUrl is not/m,
    ],
    [
      'half of the internet as a trusted proxy',
      { receiver: { trustedProxies: ['10.0.0.0/8', '128.0.0.0/1'] } },
      /^receiver\.trustedProxies holds 128\.0\.0\.0\/1/m,
    ],
    [
      'half of IPv6 as a trusted proxy',
      { receiver: { trustedProxies: ['fc00::/7', '8000::/1'] } },
      /^receiver\.trustedProxies holds 8000::\/1/m,
    ],
    [
      'allowUnauthenticated beside credentials',
      { sources: { a: { allowUnauthenticated: true, credentials: { a: { headers } } } } },
      /^sources\.a\.allowUnauthenticated has no effect/m,
    ],
  ])('mentions %s', (_, settings, expected) => {
    expect(configWarnings(parseConfig(settings), HERE).join('\n')).toMatch(expected);
  });

  it.each([
    ['https://t.example', false],
    ['https://t.example/receiver/', false],
    ['https://t.example/callbacks/', true],
    ['https://t.example/callbacks/intake', true],
  ])('mentions the public address %s when it is a callback URL: %j', (publicUrl, isMentioned) => {
    const found = configWarnings(parseConfig({ receiver: { publicUrl } }), HERE).join('\n');
    expect(found.includes(`${publicUrl.replace(/\/$/, '')}: /callbacks/<source> is appended`)).toBe(
      isMentioned,
    );
  });

  it('mentions a file store in production only', () => {
    const about = (options: typeof HERE) => configWarnings(parseConfig({}), options).join('\n');
    expect(about(PRODUCTION)).toMatch(/^store\.url is file:\.\/data in production/m);
    expect(about(HERE)).not.toMatch(/store\.url/);
  });

  it.each([
    { speech: { keysUrl: 'http://127.0.0.1:9', regions: { eu1: { batchUrl: 'http://localhost:9' } } } },
    { speech: { keysUrl: 'http://[::1]:9', regions: { eu1: { batchUrl: 'https://eu1.example' } } } },
  ])('is silent about service addresses on loopback and with TLS', (settings) => {
    expect(configWarnings(parseConfig(settings), HERE).join('\n')).not.toMatch(/encrypted/);
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
      store: { s3: { accessKeyId: 'AKIA', secretAccessKey: 's3-secret' } },
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
        'bearer-secret-0123',
        'a-secret-of-good-length',
      ].sort(),
    );
  });
});

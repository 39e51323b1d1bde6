import { describe, expect, it } from '@jest/globals';
import { type Config, parseConfig } from '../../../src/config/config.js';
import { ConfigError, renderFault } from '../../../src/config/config-error.js';
import { RETENTION_CLASSES } from '../../../src/domain/kinds.js';

const SECRET = 'a-secret-of-good-length';

/** Faults as `path: rest`, so that a case shows both. */
function faultsOf(raw: unknown, env: Record<string, string> = {}): string[] {
  try {
    parseConfig(raw, {
      env,
      readFile: () => {
        throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
      },
      hostName: 'here',
    });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map(renderFault);
  }
}

const source = (settings: Record<string, unknown>) => ({ sources: { default: settings } });
const credential = (settings: Record<string, unknown>) => source({ credentials: { main: settings } });

describe('parseConfig', () => {
  it('gives every default, with sizes in bytes and durations in milliseconds', () => {
    const config = parseConfig({});
    expect(config.receiver).toMatchObject({ host: '', port: 8080, keepAliveTimeout: 620_000 });
    expect(config.admin).toEqual({ host: '127.0.0.1', port: 8081, hosts: [], tokens: {} });
    expect(config.store).toMatchObject({ url: 'file:./data', partSize: 8 * 2 ** 20 });
    expect(config.sources).toMatchObject({
      default: {
        credentials: {},
        allowUnauthenticated: false,
        allow: ['127.0.0.0/8', '::1'],
        allowMode: 'enforce',
        contents: ['transcript'],
        context: [],
        maxBytes: 5 * 2 ** 30,
        keyPrefix: '',
      },
    });
    expect(config.limits).toMatchObject({ memoryBudget: 64 * 2 ** 20, idleTimeout: 30_000 });
    expect(config.recovery).toMatchObject({ interval: 900_000, window: 172_800_000 });
  });

  it('adds a region beside the documented ones', () => {
    const { egress, speech } = parseConfig({
      egress: { regions: { eu3: ['192.0.2.1'], eu1: ['192.0.2.2'] } },
      speech: { regions: { eu3: { batchUrl: 'https://eu3.example' } } },
      ...source({ allow: ['eu3'] }),
    });
    expect(Object.keys(egress.regions)).toEqual(['eu1', 'eu2', 'us1', 'us2', 'au1', 'eu3']);
    expect(egress.regions).toMatchObject({ eu1: ['192.0.2.2/32'], eu3: ['192.0.2.1/32'] });
    expect(egress.regions.us1).toHaveLength(5);
    expect(speech.regions.eu3).toEqual({ batchUrl: 'https://eu3.example' });
    expect(speech.regions.eu1).toEqual({ batchUrl: null });
  });

  it('is frozen to the bottom', () => {
    const config: Config = parseConfig({});
    expect(() => Object.assign(config, { log: null })).toThrow(TypeError);
    expect(() => Object.assign(config.sources.default?.allow ?? [], ['any'])).toThrow(TypeError);
    expect(() => Object.assign(config.sources, { other: null })).toThrow(TypeError);
  });

  it('reads an account id with and without quotes', () => {
    const ownerOf = (expectedBucketOwner: unknown) =>
      parseConfig({ store: { s3: { expectedBucketOwner } } }).store.s3.expectedBucketOwner;
    expect(ownerOf('012345678901')).toBe('012345678901');
    expect(ownerOf(123456789012)).toBe('123456789012');
  });

  it('reads what environment variables give as text', () => {
    const config = parseConfig({
      receiver: { port: '9000' },
      store: { s3: { forcePathStyle: 'true' } },
      limits: { minBytesPerSecond: '7' },
    });
    expect([config.receiver.port, config.store.s3.forcePathStyle, config.limits.minBytesPerSecond]).toEqual([
      9000,
      true,
      7,
    ]);
  });

  it('takes eight context names of usual length', () => {
    const names = ['call', 'customer', 'case_id', 'Tenant.Id', 'agent', 'queue', 'ticket', 'constructor'];
    expect(parseConfig(source({ context: names })).sources.default?.context).toEqual(names);
  });

  it('says of a text instead of a list nothing but that', () => {
    expect(faultsOf(credential({ headers: 'X-Token: 0123456789abcdef' }))).toEqual([
      'sources.default.credentials.main.headers: expected a list',
    ]);
  });

  it('takes null for "not set": defaults apply and entries of maps are removed', () => {
    const config = parseConfig({
      receiver: null,
      limits: { memoryBudget: null },
      sources: { default: null, intake: { credentials: { old: null }, allow: null } },
    });
    expect(config.receiver.port).toBe(8080);
    expect(config.limits.memoryBudget).toBe(64 * 2 ** 20);
    expect(Object.keys(config.sources)).toEqual(['intake']);
    expect(config.sources.intake).toMatchObject({ credentials: {}, allow: ['127.0.0.0/8', '::1'] });
  });

  it('names every fault at once, across shapes, secrets and rules', () => {
    const faults = faultsOf({
      receiver: { prot: 1 },
      limits: { minBytesPerSecond: 'many', memoryBudget: '1MiB' },
      store: { url: 's3://bucket', partSize: '1MiB' },
      sources: {
        a: { credentials: { x: { headers: ['X-Token: short'] } }, allow: ['10.5'] },
        b: { credentials: { y: { header: ['X-Token: 1'] }, z: { headers: [`X: \${env:MISSING}`] } } },
      },
    });
    expect(faults.map((fault) => fault.split(': ')[0])).toEqual(
      expect.arrayContaining([
        'receiver.prot',
        'limits.minBytesPerSecond',
        'limits.memoryBudget',
        'store.partSize',
        'sources.a.credentials.x.headers',
        'sources.a.allow[0]',
        'sources.b.credentials.y.header',
        'sources.b.credentials.z.headers[0]',
      ]),
    );
    expect(new Set(faults).size).toBe(faults.length);
  });

  it.each<[string, unknown, RegExp]>([
    ['an unknown section, listing what there is', { limit: {} }, /^limit: .*a known setting \(receiver, /],
    ['an unknown setting, listing what there is', { log: { colour: 1 } }, /known setting \(level\)/],
    ['a text where a map belongs', { receiver: 'x' }, /^receiver: found "x", expected a map/],
    ['a list where the root belongs', [], /expected a map/],
    ['a port out of range', { receiver: { port: 65_536 } }, /0 to 65535/],
    ['a port with a fraction', { receiver: { port: 80.5 } }, /whole number/],
    ['a size without a known unit', { limits: { memoryBudget: '64mb' } }, /found "64mb", expected a size/],
    ['a duration no timer can hold', { limits: { totalTimeout: '25d' } }, /to 24d/],
    ['a source name with capitals', { sources: { Default: {} } }, /^sources\.Default: found that name/],
    ['a source name with a slash', { sources: { 'a/b': {} } }, /^sources\["a\/b"\]: /],
    ['no source at all', { sources: { default: null } }, /at least one source/],
    ['a token without name', { admin: { tokens: [SECRET] } }, /^admin\.tokens: expected a map/],
    ['a short token', { admin: { tokens: { ops: 'short' } } }, /^admin\.tokens\.ops: expected a token of 20/],
    [
      'a misspelt right',
      { admin: { tokens: { ops: { token: SECRET, may: ['vew'] } } } },
      /^admin\.tokens\.ops\.may\[0\]: found "vew", expected one of view, read, repair, erase$/m,
    ],
    ['a token without rights', { admin: { tokens: { ops: { token: SECRET, may: [] } } } }, /at least one of/],
    [
      'a misspelt member of a token',
      { admin: { tokens: { ops: { token: SECRET, mai: ['view'] } } } },
      /admin\.tokens\.ops\.mai: .*a known setting \(token, may, sources\)/,
    ],
    [
      'a token for a source unlike any',
      {
        sources: { intake: {} },
        admin: { tokens: { ops: { token: SECRET, may: ['view'], sources: ['other'] } } },
      },
      /^admin\.tokens\.ops\.sources\[0\]: found "other", expected a configured source \(intake\)$/,
    ],
    ['a token with a space', { admin: { tokens: { ops: `${SECRET} x` } } }, /without spaces/],
    [
      'equal tokens',
      { admin: { tokens: { a: SECRET, b: SECRET } } },
      /^admin\.tokens\.b: expected another token than a/,
    ],
    ['an open admin port without tokens', { admin: { host: '0.0.0.0' } }, /^admin\.tokens: .*not loopback/],
    [
      'an admin port on every address',
      { admin: { host: '' } },
      /because an empty admin\.host is not loopback/,
    ],
    ['an admin port on all of IPv6', { admin: { host: '::' } }, /not loopback/],
    ['one port for both', { admin: { port: 8080 } }, /^admin\.port: found 8080, expected another port/],
    [
      'a trusted proxy "true"',
      { receiver: { trustedProxies: [true] } },
      /^receiver\.trustedProxies\[0\]: found true/,
    ],
    [
      'everybody as a trusted proxy',
      { receiver: { trustedProxies: ['10.0.0.0/8', '0.0.0.0/0'] } },
      /^receiver\.trustedProxies\[1\]: found "0\.0\.0\.0\/0", expected the addresses of your balancers/,
    ],
    [
      'all of IPv6 as a trusted proxy',
      { receiver: { trustedProxies: ['::/0'] } },
      /the X-Forwarded-For of every client/,
    ],
    [
      'all of IPv4, mapped',
      { receiver: { trustedProxies: ['::ffff:0.0.0.0/96'] } },
      /the X-Forwarded-For of every client/,
    ],
    [
      'any host bits and prefix 0',
      { receiver: { trustedProxies: ['192.0.2.1/0'] } },
      /the X-Forwarded-For of every client/,
    ],
    ['trusted proxies as a text', { receiver: { trustedProxies: '10.0.0.0/8' } }, /expected a list/],
    ['another kind of store', { store: { url: 'gs://bucket' } }, /file:<directory> or s3:/],
    [
      'half an access key',
      { store: { s3: { accessKeyId: 'AKIA' } } },
      /^store\.s3\.secretAccessKey: .*two halves/,
    ],
    [
      'a KMS key without KMS',
      { store: { s3: { kmsKeyId: 'key' } } },
      /^store\.s3\.kmsKeyId: .*sse to be kms/,
    ],
    [
      'a lock without its days',
      { store: { s3: { lock: { mode: 'governance' } } } },
      /^store\.s3\.lock\.days: .*a mode and a number of days/,
    ],
    ['days without a lock', { store: { s3: { lock: { days: 30 } } } }, /^store\.s3\.lock\.mode: /],
    [
      "an index in the store's folder",
      { store: { url: 'file:./data' }, ledger: { index: { path: './data/../data/cache/index.sqlite' } } },
      /^ledger\.index\.path: expected a path outside of the store's folder/,
    ],
    ['small parts on S3', { store: { url: 's3://bucket', partSize: '1MiB' } }, /at least 5MiB/],
    [
      'bodies of more than 10,000 parts',
      { store: { url: 's3://bucket' }, ...source({ maxBytes: '1TiB' }) },
      /^sources\.default\.maxBytes: found "1TiB", expected at most 80000MiB/,
    ],
    ['parts that no buffer holds', { store: { partSize: '5GiB' } }, /^store\.partSize: /],
    [
      'a class that cannot be read at once',
      { store: { s3: { storageClass: 'DEEP_ARCHIVE' } } },
      /read at once/,
    ],
    [
      'an account whose leading zeros YAML has dropped',
      { store: { s3: { expectedBucketOwner: 12345678901 } } },
      /^store\.s3\.expectedBucketOwner: .*12 digits, in quotes/,
    ],
    [
      'segments that end before replicas have listed their whole hour',
      { ledger: { keepSegments: '2h' } },
      /^ledger\.keepSegments: found "2h", expected forever, or a duration from 1d/,
    ],
    ['a budget below three parts', { limits: { memoryBudget: '20MiB' } }, /at least 24MiB/],
    [
      'a quarantine beyond the budget',
      { limits: { quarantineBytes: '65MiB' } },
      /at most limits\.memoryBudget/,
    ],
    [
      'an unknown region',
      source({ allow: ['eu9'] }),
      /^sources\.default\.allow\[0\]: found "eu9", .*egress\.regions \(eu1, eu2, us1, us2, au1\), an address/,
    ],
    [
      'an unknown region beside a malformed address',
      source({ allow: ['10.0.0.0/33', 'eu9'] }),
      /allow\[0\]: found "10\.0\.0\.0\/33".*\n.*allow\[1\]: found "eu9"/,
    ],
    [
      'an address of a region that has no entry in egress.regions',
      { speech: { regions: { eu9: { batchUrl: 'http://a' } } } },
      /^speech\.regions\.eu9: .*expected a region of egress\.regions \(eu1, eu2, us1, us2, au1\)$/,
    ],
    [
      'a name that no region can have',
      { egress: { regions: { EU3: ['192.0.2.1'] } } },
      /^egress\.regions\.EU3: found that name, expected a region name: /,
    ],
    [
      'a region with the name of an entry of allow',
      { egress: { regions: { any: ['192.0.2.1'] } } },
      /^egress\.regions\.any: found that name/,
    ],
    [
      'a wrong address of a new region',
      { egress: { regions: { eu3: ['1.2.3'] } } },
      /^egress\.regions\.eu3\[0\]: /,
    ],
    [
      'a misspelt setting of a new region',
      { egress: { regions: { eu3: [] } }, speech: { regions: { eu3: { batchurl: 'http://a' } } } },
      /^speech\.regions\.eu3\.batchurl: .*a known setting \(batchUrl\)/,
    ],
    [
      'an address YAML took for a number',
      source({ allow: [10.5] }),
      /^sources\.default\.allow\[0\]: found 10\.5/,
    ],
    ['an empty entry of a list', source({ allow: [null] }), /found null/],
    ['an unknown mode', source({ allowMode: 'off' }), /one of enforce, report/],
    ['unknown contents', source({ contents: ['transcript.doc'] }), /one of transcript, /],
    ['contents twice', source({ contents: ['data', 'data'] }), /^sources\.default\.contents\[1\]: .*once/],
    [
      'a context that is a text',
      source({ context: 'call' }),
      /^sources\.default\.context: .*expected a list/,
    ],
    [
      'a context name with a space',
      source({ context: ['a b'] }),
      /context\[0\]: found "a b", expected a name of/,
    ],
    ['a context name of JavaScript', source({ context: ['__proto__'] }), /beginning with a letter or digit/],
    [
      'a context name that is a parameter',
      source({ context: ['call', 'id'] }),
      /context\[1\]: .*every callback/,
    ],
    ['another such name', source({ context: ['contents'] }), /context\[0\]: .*contents is a parameter/],
    ['a context name twice', source({ context: ['call', 'call'] }), /context\[1\]: .*each name once/],
    ['context names that are one in metadata', source({ context: ['a.b', 'A-B'] }), /both are context-a-b/],
    [
      'nine context names',
      source({ context: [...'abcdefghi'] }),
      /^sources\.default\.context: .*at most 8 names/,
    ],
    [
      'more context than object metadata takes',
      source({ context: [...'abcdefgh'].map((letter) => letter.repeat(64)) }),
      /^sources\.default\.context: .*could have \d+ bytes, and S3 takes 2048/,
    ],
    ['a climbing key prefix', source({ keyPrefix: '../x/' }), /^sources\.default\.keyPrefix: /],
    ['an absolute key prefix', source({ keyPrefix: '/x/' }), /^sources\.default\.keyPrefix: /],
    ['a hidden key prefix', source({ keyPrefix: '.meta/' }), /^sources\.default\.keyPrefix: /],
    [
      "a key prefix inside the store's own folders",
      source({ keyPrefix: 'ledger/' }),
      /without the segment ledger/,
    ],
    ['a key prefix no file system holds', source({ keyPrefix: 'a'.repeat(256) }), /keyPrefix: /],
    ['a key prefix that looks like a job', source({ keyPrefix: 'a/jobs/' }), /without the segment jobs/],
    ['a credential without lines', credential({ headers: [] }), /at least one header line/],
    [
      'a credential that is a text',
      credential('X-Token: x' as never),
      /^sources\.default\.credentials\.main: expected a map/,
    ],
    ['a line without colon', credential({ headers: [`X-Token ${SECRET}`] }), /<Header-Name>: <value>/],
    ['a line without name', credential({ headers: [`: ${SECRET}`] }), /<Header-Name>: <value>/],
    ['a line without value', credential({ headers: ['X-Token:  '] }), /has no value/],
    [
      'a name with a space',
      credential({ headers: [`X Token: ${SECRET}`] }),
      /characters that header names cannot/,
    ],
    ['a line break', credential({ headers: [`X-Token: ${SECRET}\r\nX-Other: 1`] }), /line breaks/],
    ['a value beyond ASCII', credential({ headers: [`X-Token: ${SECRET}ü`] }), /printable ASCII/],
    [
      'a framing header',
      credential({ headers: [`Content-Length: ${SECRET}`] }),
      /cannot serve as a credential/,
    ],
    ['the user agent as credential', credential({ headers: [`User-Agent: ${SECRET}`] }), /cannot serve/],
    ['a short secret', credential({ headers: ['X-Token: seven-c'] }), /at least 8 characters/],
    [
      'a short secret behind a scheme',
      credential({ headers: ['Authorization: Bearer short'] }),
      /at least 8/,
    ],
    ['one header twice', credential({ headers: [`X-T: ${SECRET}`, `x-t: ${SECRET}`] }), /x-t only once/],
    [
      'an invalid time',
      credential({ headers: [`X: ${SECRET}`], expires: 'soon' }),
      /^sources\.default\.credentials\.main\.expires: found "soon", expected a time such as/,
    ],
    [
      'an end before the beginning',
      credential({ headers: [`X: ${SECRET}`], notBefore: '2026-02-01', expires: '2026-01-01' }),
      /after notBefore/,
    ],
    [
      'one credential under two names',
      source({ credentials: { a: { headers: [`X-T: ${SECRET}`] }, b: { headers: [`x-t:   ${SECRET}`] } } }),
      /^sources\.default\.credentials\.b: expected other header lines than the credential a/,
    ],
    ['an address with a password', { speech: { keysUrl: 'https://u:p@host' } }, /without user name/],
    ['another protocol', { speech: { realtime: { eu: 'https://host' } } }, /ws:\/\/ or wss:\/\//],
    ['a path without the job', { speech: { paths: { record: '/v2/jobs' } } }, /holds \{id\}/],
    ['temporary keys without key service', { speech: { auth: 'temporaryKey' } }, /^speech\.keysUrl: /],
    [
      'an end while the service still has the job',
      { retention: { data: '6d' } },
      /^retention\.data: found "6d", expected at least 7d.*speech\.retention/,
    ],
    [
      'an end while reconcile looks back',
      { retention: { quarantine: '8d' }, recovery: { window: '9d' } },
      /^retention\.quarantine: .*at least 9d.*recovery\.window/,
    ],
    [
      'records that end while they are read',
      { retention: { reports: '39d' } },
      /^retention\.reports: .*from 40d/,
    ],
    ['an end after hours', { retention: { data: '23h' } }, /^retention\.data: .*from 1d/],
    [
      'a kind that there is not',
      { retention: { recordings: '30d' } },
      new RegExp(`^retention\\.recordings: .*\\(${RETENTION_CLASSES.join(', ')}\\)`),
    ],
    ['a grace beyond the window', { recovery: { grace: '3d' } }, /^recovery\.grace: /],
  ])('refuses %s', (_, raw, expected) => {
    const faults = faultsOf(raw);
    expect(faults.join('\n')).toMatch(new RegExp(expected.source, 'm'));
  });

  it('takes a secret of sixteen characters, and short lines beside it', () => {
    expect(faultsOf(credential({ headers: ['X-Tenant: a', 'X-Token: 0123456789abcdef'] }))).toEqual([]);
  });

  it('takes one port for both when both are free ones', () => {
    expect(faultsOf({ receiver: { port: 0 }, admin: { port: 0 } })).toEqual([]);
  });

  it('adds the slash a key prefix lacks', () => {
    expect(parseConfig(source({ keyPrefix: 'team-a/in' })).sources.default?.keyPrefix).toBe('team-a/in/');
  });

  it('names each key prefix once, however many sources share it', () => {
    const sources = { a: { keyPrefix: 'team/' }, b: { keyPrefix: 'team' }, c: {} };
    expect(parseConfig({ sources }).keyPrefixes).toEqual(['team/', '']);
  });

  it('reads times as instants', () => {
    const config = parseConfig(
      credential({
        headers: [`X: ${SECRET}`],
        notBefore: '2026-01-01',
        expires: '2026-02-01T01:00:00+01:00',
      }),
    );
    expect(config.sources.default?.credentials.main).toMatchObject({
      notBefore: Date.UTC(2026, 0, 1),
      expires: Date.UTC(2026, 1, 1),
    });
  });

  it('names the replica after the host by default', () => {
    const around = { env: {}, readFile: () => '', hostName: 'node_7.example' };
    expect(parseConfig({}, around).replicaName).toBe('node-7.example');
    expect(parseConfig({ replicaName: 'r1' }, around).replicaName).toBe('r1');
  });
});

describe('secrets', () => {
  it('come from the environment and from files, within longer texts', () => {
    const config = parseConfig(
      {
        speech: { apiKey: `\${file:/run/key}` },
        ...credential({ headers: [`Authorization: Bearer \${env:TOKEN}`] }),
      },
      {
        env: { TOKEN: SECRET },
        readFile: (file) => `content of ${file}\n`.replaceAll(' ', '-'),
        hostName: 'h',
      },
    );
    expect(config.speech.apiKey).toBe('content-of-/run/key');
    expect(config.sources.default?.credentials.main?.headers).toEqual([`Authorization: Bearer ${SECRET}`]);
  });

  it('lose exactly one newline at the end of a file', () => {
    const read = (content: string) =>
      parseConfig(
        { admin: { tokens: { a: `\${file:/t}` } } },
        { env: {}, readFile: () => content, hostName: 'h' },
      );
    expect(read(`${SECRET}\r\n`).admin.tokens.a?.token).toBe(SECRET);
    expect(() => read(`${SECRET}\n\n`)).toThrow(/the file \/t to hold one line/);
    expect(() => read(`\ufeff${SECRET}\n`)).toThrow(/the file \/t without the byte order mark/);
  });

  it('come from the folder of systemd', () => {
    const context = {
      env: { CREDENTIALS_DIRECTORY: '/run/credentials/transcript-receiver@1.service' },
      readFile: (file: string) => `content:${file}`,
      hostName: 'h',
    };
    const tree = { admin: { tokens: { a: `\${credential:admin-token}` } } };
    expect(parseConfig(tree, context).admin.tokens.a?.token).toBe(
      'content:/run/credentials/transcript-receiver@1.service/admin-token',
    );
  });

  it('are not meant by two dollar signs', () => {
    const env = { env: { A: 'x' }, readFile: () => '', hostName: 'h' };
    const written = `$\${env:A}-and-\${env:A}-0123456789`;
    expect(parseConfig({ admin: { tokens: { a: written } } }, env).admin.tokens.a?.token).toBe(
      `\${env:A}-and-x-0123456789`,
    );
  });

  it('are not looked for again in what was put in', () => {
    const nested = { env: { A: `\${env:B}-0123456789abcdef`, B: 'x' }, readFile: () => '', hostName: 'h' };
    expect(parseConfig({ admin: { tokens: { a: `\${env:A}` } } }, nested).admin.tokens.a?.token).toBe(
      `\${env:B}-0123456789abcdef`,
    );
  });

  it.each([
    [`\${env:NOPE}`, /NOPE to be set/],
    [`\${env:EMPTY}`, /EMPTY not to be empty/],
    [`\${file:/nowhere}`, /file \/nowhere to be readable \(ENOENT\)/],
    [`\${file:relative}`, /absolute/],
    [`\${credential:nope}`, /CREDENTIALS_DIRECTORY to be set/],
    [`\${credential:../nope}`, /credential:NAME/],
    [`\${NOPE}`, /\$\{env:NAME\}/],
    [`\${vault:x}`, /\$\{env:NAME\}/],
    [`\${env:NOT CLOSED`, /\$\{env:NAME\}/],
  ])('that cannot be found are named: %s', (reference, expected) => {
    const faults = faultsOf({ speech: { apiKey: reference } }, { EMPTY: '' });
    expect(faults).toEqual([expect.stringMatching(expected)]);
    expect(faults[0]).toMatch(/^speech\.apiKey: /);
  });

  it.each<[string, unknown]>([
    ['a token', { admin: { tokens: { a: 'geheim' } } }],
    ['tokens as a list', { admin: { tokens: ['geheim'] } }],
    ['tokens as a text', { admin: { tokens: 'geheim' } }],
    ['a credential as a text', { sources: { default: { credentials: 'X-Token: geheim' } } }],
    ['a line', credential({ headers: ['X-Token: geheim'] })],
    ['a line in the wrong place', credential({ header: 'X-Token: geheim' })],
    ['a malformed line', credential({ headers: ['geheim'] })],
    ['an unknown setting', { speech: { apikey: 'geheim' } }],
    ['an API key', { speech: { apiKey: 'geheim' } }],
    ['S3 keys', { store: { s3: { accessKeyId: 'geheim geheim', secretAccessKey: 'geheim geheim' } } }],
    ['a password in an address', { store: { url: 's3://AK:geheim@bucket' } }],
    ['a password in another address', { speech: { keysUrl: 'ftp://u:geheim@host' } }],
    ['a token and its name, swapped', { admin: { tokens: { 'geheim/Geheim+x': 'ops' } } }],
    ['a reference that is the secret', { admin: { tokens: { a: `\${geheim}` } } }],
    ['a reference to a variable that cannot be one', { speech: { apiKey: `\${env:geheim!}` } }],
    ['a reference that is not closed', { speech: { apiKey: `\${env:geheim` } }],
    ['a query in an address', { receiver: { publicUrl: 'https://t.example/?token=geheim' } }],
    ['a fragment in an address', { speech: { keysUrl: 'https://t.example/#geheim' } }],
    ['a user part in an address', { receiver: { publicUrl: 'https://geheim@t.example/' } }],
    ['a key where an address belongs', { speech: { keysUrl: 'sk-geheim-0123456789abcdef' } }],
    ['a key where a number belongs', { receiver: { port: 'geheimgeheimgeheimgeheim' } }],
    ['a header line in the allowlist', source({ allow: ['X-Token: geheim'] })],
    ['a bearer where a mode belongs', source({ allowMode: 'Bearer geheim' })],
    ['a token named like a setting', { admin: { tokens: { sources: 'geheim' } } }],
    [
      'a token where a source belongs',
      { admin: { tokens: { a: { token: SECRET, may: ['view'], sources: ['geheim-geheim-geheim'] } } } },
    ],
    ['an equal token', { admin: { tokens: { a: 'geheim-geheim-geheim', b: 'geheim-geheim-geheim' } } }],
  ])('are never shown: %s', (_, raw) => {
    const faults = faultsOf(raw);
    expect(faults).not.toEqual([]);
    expect(faults.join()).not.toContain('geheim');
  });

  it('put into a faulty setting are not shown either', () => {
    const faults = faultsOf({ receiver: { host: `\${env:PASSWORD}` } }, { PASSWORD: 'geheim geheim' });
    expect(faults).toEqual([expect.stringContaining(`found "\${env:PASSWORD}"`)]);
  });
});

describe('subscribers', () => {
  const SIGNING = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const subscriber = (settings: Record<string, unknown>) => ({
    subscribers: { billing: { url: 'https://b.example/hook', secrets: [SIGNING], ...settings } },
  });

  it('have defaults for all but address and secrets', () => {
    expect(parseConfig(subscriber({})).subscribers.billing).toEqual({
      url: 'https://b.example/hook',
      secrets: [SIGNING],
      events: ['job.stored', 'job.failed', 'job.erased'],
      format: 'cloudevents',
      sources: [],
      maxInFlight: 8,
    });
  });

  it.each<Record<string, unknown>>([
    { url: 'https://b.example/hook?token=1' },
    { url: 'http://127.0.0.1:9000/' },
    { url: 'http://[::1]:9000/' },
    { url: 'http://localhost/' },
    { url: 'http://events.svc' },
    {
      secrets: [
        `whsec_${Buffer.alloc(24).toString('base64')}`,
        `whsec_${Buffer.alloc(64).toString('base64')}`,
      ],
    },
    { secrets: [`whsec_${Buffer.alloc(25).toString('base64').replace(/=+$/, '')}`] },
    { sources: ['default'], events: ['health.opened'] },
  ])('may be %j', (settings) => {
    expect(faultsOf(subscriber(settings))).toEqual([]);
  });

  it.each<[RegExp, Record<string, unknown>]>([
    [/url: .*without user name and password/, { url: 'https://u:geheim@b.example/' }],
    [/url: .*without fragment/, { url: 'https://b.example/#geheim' }],
    [/url: .*https/, { url: 'ftp://b.example/geheim' }],
    [/secrets\[0\]: .*24 to 64 bytes/, { secrets: ['geheim'] }],
    [/secrets\[0\]: .*24 to 64 bytes/, { secrets: [`whsec_${Buffer.alloc(23).toString('base64')}`] }],
    [/secrets\[0\]: .*24 to 64 bytes/, { secrets: [`whsec_${Buffer.alloc(65).toString('base64')}`] }],
    [/secrets\[0\]: .*24 to 64 bytes/, { secrets: [SIGNING.replace('whsec_', '')] }],
    [/secrets\[0\]: .*24 to 64 bytes/, { secrets: [`${SIGNING.slice(0, -1)}-`] }],
    [/secrets: .*at least one secret/, { secrets: [] }],
    [/secrets\[1\]: .*only once/, { secrets: [SIGNING, SIGNING] }],
    [/events\[0\]: .*job.stored/, { events: ['job.stord'] }],
    [/events: .*at least one event/, { events: [] }],
    [/sources\[0\]: .*configured source/, { sources: ['defualt'] }],
  ])('are faulty with %s', (expected, settings) => {
    const faults = faultsOf(subscriber(settings));
    expect(faults).toEqual([expect.stringMatching(expected)]);
    expect(faults.join()).not.toContain('geheim');
    expect(faults.join()).not.toContain(SIGNING);
  });
});

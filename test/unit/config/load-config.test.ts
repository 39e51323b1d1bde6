import { mkdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { loadConfig } from '../../../src/config/config.js';
import { configFolder } from '../../support/processes/config-folder.js';

const folders: { remove(): void }[] = [];

function folder(files: Record<string, string>): string {
  const made = configFolder(files);
  folders.push(made);
  return made.path;
}

afterEach(() => {
  for (const made of folders.splice(0)) made.remove();
});

/** Makes the source `default`, which production does not have by itself. */
const TR_CREDENTIAL = 'X-Token: 0123456789abcdef';

describe("the package's default.yaml", () => {
  const text = readFileSync(new URL('../../../config/default.yaml', import.meta.url), 'utf8');

  it('repeats no default', () => {
    expect(parse(text)).toBeNull();
  });

  it('shows an example that a production configuration can begin with', () => {
    const [, example = ''] = text.split('#\n# store:');
    const yaml = `store:${example.replaceAll(/^# ?/gm, '')}`.replace(/\$\{file:.*?\}/, '0123456789abcdef');
    const env = { NODE_ENV: 'production', NODE_CONFIG_DIR: folder({ 'default.yaml': yaml }) };
    expect(loadConfig('everything', env).sources.intake?.allow).toEqual(['eu1']);
  });
});

describe('loadConfig', () => {
  it('serves this machine only unless the environment says otherwise', () => {
    expect(loadConfig('everything', {}).receiver.host).toBe('127.0.0.1');
    expect(loadConfig('everything', { NODE_ENV: 'development' }).receiver.host).toBe('127.0.0.1');
    expect(loadConfig('everything', { NODE_ENV: 'production', TR_CREDENTIAL }).receiver.host).toBe('');
  });

  it('names the replica after host and process, because processes may share a host', () => {
    const named = loadConfig('everything', {}).replicaName;
    expect(named).toBe(
      `${os
        .hostname()
        .replaceAll(/[^A-Za-z0-9.-]/g, '-')
        .slice(0, 50)}-${process.pid}`,
    );
    expect(loadConfig('everything', { TR_REPLICA_NAME: 'mine' }).replicaName).toBe('mine');
  });

  it('refuses the one name that JavaScript reserves, wherever a name is chosen', () => {
    const yaml = `
sources: { __proto__: { allow: [any] }, intake: { credentials: { __proto__: { headers: ["X-A: 0123456789abcdef"] } } } }
admin: { tokens: { __proto__: 0123456789abcdef0123 } }
`;
    const load = (env: Record<string, string>) => () => loadConfig('everything', env);
    const fromFile = load({ NODE_CONFIG_DIR: folder({ 'default.yaml': yaml }) });
    const expected = (place: string) => `${place}.__proto__: found that name, expected another name`;
    for (const place of ['sources', 'sources.intake.credentials', 'admin.tokens'])
      expect(fromFile).toThrow(expected(place));
    expect(load({ NODE_CONFIG: '{"subscribers":{"__proto__":{"url":"https://a.example"}}}' })).toThrow(
      expected('subscribers'),
    );
  });

  it('reads no more of a secret than shows that it is too long', () => {
    const load = (file: string) =>
      loadConfig('everything', { NODE_CONFIG: `{"speech":{"apiKey":"\${file:${file}}"}}` });
    expect(() => load('/dev/zero')).toThrow('the file /dev/zero to have at most 65536 bytes');
    const long = path.join(folder({ key: `${'a'.repeat(4096)}\n` }), 'key');
    expect(load(long).speech.apiKey).toHaveLength(4096);
  });

  it("lets the operator's default.yaml win over the package's development.yaml", () => {
    const config = loadConfig('everything', {
      NODE_CONFIG_DIR: folder({ 'default.yaml': 'receiver: { host: 192.0.2.1 }' }),
    });
    expect(config.receiver.host).toBe('192.0.2.1');
  });

  it("orders the operator's files: default, the environment's, local ones", () => {
    const files = {
      'default.yaml': 'log: { level: debug }\nlimits: { minBytesPerSecond: 1 }\nreplicaName: a',
      'production.yml': 'log: { level: warn }\nlimits: { minBytesPerSecond: 2 }',
      'local.json': '{"log": {"level": "error"}, "limits": {"maxConcurrentDeliveries": 3}}',
      'local-production.yaml': 'limits: { maxConcurrentDeliveries: 4 }',
      'local-test.yaml': 'limits: { maxConcurrentDeliveries: 5 }',
    };
    const config = loadConfig('everything', {
      NODE_CONFIG_DIR: folder(files),
      NODE_ENV: 'production',
      TR_CREDENTIAL,
    });
    const { minBytesPerSecond, maxConcurrentDeliveries } = config.limits;
    expect([config.log.level, minBytesPerSecond, maxConcurrentDeliveries, config.replicaName]).toEqual([
      'error',
      2,
      4,
      'a',
    ]);
  });

  it('applies files, then NODE_CONFIG, then mapped variables', () => {
    const env = { NODE_CONFIG_DIR: folder({ 'default.yaml': 'receiver: { port: 1, host: 192.0.2.1 }' }) };
    expect(
      loadConfig('everything', { ...env, NODE_CONFIG: '{"receiver":{"port":2}}' }).receiver,
    ).toMatchObject({
      port: 2,
      host: '192.0.2.1',
    });
    expect(
      loadConfig('everything', { ...env, NODE_CONFIG: '{"receiver":{"port":2}}', TR_PORT: '3' }).receiver
        .port,
    ).toBe(3);
  });

  it('reads a mapped variable in the format that its mapping names', () => {
    const mapping = 'egress: { regions: { __name: REGIONS, __format: json } }';
    const env = { NODE_CONFIG_DIR: folder({ 'custom-environment-variables.yaml': mapping }) };
    const { regions } = loadConfig('everything', { ...env, REGIONS: '{"eu1":["192.0.2.1"]}' }).egress;
    expect([regions.eu1, regions.us1.length]).toEqual([['192.0.2.1/32'], 5]);
    const attempt = () => loadConfig('everything', { ...env, REGIONS: '{"geheim' });
    expect(attempt).toThrow(/found unreadable text in the environment variable REGIONS, expected json/);
    expect(attempt).not.toThrow(/geheim/);
  });

  it.each([
    [
      'limits: { minBytesPerSecond: { __name: PARTS, __format: xml } }',
      /found the format xml of PARTS, expected one of json/,
    ],
    [
      'limits: { minBytesPerSecond: 5 }',
      /limits\.minBytesPerSecond: found a mapping to nothing, expected the name of a variable/,
    ],
  ])('refuses the mapping %s', (mapping, expected) => {
    const env = { NODE_CONFIG_DIR: folder({ 'custom-environment-variables.yaml': mapping }), PARTS: '5' };
    expect(() => loadConfig('everything', env)).toThrow(expected);
  });

  it('maps lists and header lines', () => {
    const config = loadConfig('everything', {
      TR_ALLOW: 'eu1, 10.0.0.0/8',
      TR_CREDENTIAL: 'X-Tenant: a, b\nX-Token: 0123456789abcdef\n',
      TR_TRUSTED_PROXIES: '10.0.0.1',
    });
    expect(config.sources.default?.allow).toEqual(['eu1', '10.0.0.0/8']);
    expect(config.sources.default?.credentials.environment?.headers).toEqual([
      'X-Tenant: a, b',
      'X-Token: 0123456789abcdef',
    ]);
    expect(config.receiver.trustedProxies).toEqual(['10.0.0.1/32']);
  });

  it('refuses an unknown variable, and does not show its value', () => {
    const attempt = () => loadConfig('everything', { TR_STORE_URI: 'geheim' });
    expect(attempt).toThrow(
      /found the environment variable TR_STORE_URI, expected a known variable; docs\/configuration\.md lists them/,
    );
    expect(attempt).not.toThrow(/geheim/);
  });

  it("knows the variables of the operator's mapping and of references, and passes over empty and foreign ones", () => {
    const files = {
      'custom-environment-variables.yaml': 'limits: { minBytesPerSecond: TR_PARTS }',
      'default.yaml': `speech: { apiKey: "\${env:TR_SERVICE_KEY}" }`,
    };
    const env = {
      TR_PARTS: '9',
      TR_SERVICE_KEY: 'a-service-key',
      TR_STORE_URI: '',
      TRANSPORT: 'x',
      tr_x: 'x',
    };
    expect(
      loadConfig('everything', { ...env, NODE_CONFIG_DIR: folder(files) }).limits.minBytesPerSecond,
    ).toBe(9);
  });

  it('reads YAML with anchors, merge keys and a section of their own', () => {
    const yaml = [
      'x-common: &common { allow: [eu1], maxBytes: 1GiB }',
      'sources:',
      '  a: { <<: *common, keyPrefix: a, credentials: &both { main: { headers: ["X-Token: 0123456789abcdef"] } } }',
      '  b: { <<: *common, maxBytes: 2GiB, keyPrefix: b, credentials: *both }',
    ];
    const { sources } = loadConfig('everything', {
      NODE_CONFIG_DIR: folder({ 'default.yaml': yaml.join('\n') }),
    });
    expect([sources.a?.allow, sources.b?.allow]).toEqual([['eu1'], ['eu1']]);
    expect([sources.a?.maxBytes, sources.b?.maxBytes]).toEqual([2 ** 30, 2 ** 31]);
    expect(sources.b?.credentials).toEqual(sources.a?.credentials);
  });

  it.each([
    [
      '*geheimnis0123456789',
      /line 2, column 15: an alias without its anchor; quote a text that begins with \*/,
    ],
    ['*geheim, spaeter: &geheim x', /line 2, column 15: an alias/],
    ['&geheim { <<: [*geheim] }', /a file in .* that cannot be read/],
  ])('shows nothing of a secret that YAML takes for an alias: %s', (secret, expected) => {
    const yaml = `speech:\n  { apiKey:   ${secret} }`;
    const attempt = () => loadConfig('everything', { NODE_CONFIG_DIR: folder({ 'default.yaml': yaml }) });
    expect(attempt).toThrow(expected);
    expect(attempt).not.toThrow(/geheim/);
  });

  it('treats empty variables as absent', () => {
    expect(
      loadConfig('everything', { TR_PORT: '', NODE_CONFIG: '', NODE_CONFIG_DIR: '' }).receiver.port,
    ).toBe(8080);
  });

  it('replaces lists and merges maps, also of the egress table', () => {
    const files = { 'egress.yaml': 'egress: { regions: { eu1: [192.0.2.1] } }' };
    const { regions } = loadConfig('everything', { NODE_CONFIG_DIR: folder(files) }).egress;
    expect([regions.eu1, regions.us1.length]).toEqual([['192.0.2.1/32'], 5]);
  });

  it('refuses a folder that is not there', () => {
    expect(() => loadConfig('everything', { NODE_CONFIG_DIR: '/nowhere/at/all' })).toThrow(
      /NODE_CONFIG_DIR \/nowhere\/at\/all/,
    );
  });

  it('refuses a folder without any file it could read', () => {
    const place = folder({ 'settings.txt': '', 'config.yaml': '', 'Default.yaml': '', 'staging.yaml': '' });
    mkdirSync(path.join(place, 'sub'));
    expect(() => loadConfig('everything', { NODE_CONFIG_DIR: place })).toThrow(/such as default\.yaml/);
  });

  it('refuses malformed NODE_CONFIG without showing it', () => {
    const attempt = () => loadConfig('everything', { NODE_CONFIG: '{"speech":{"apiKey":"geheim"' });
    expect(attempt).toThrow(/NODE_CONFIG/);
    expect(attempt).not.toThrow(/geheim/);
  });

  it.each([
    ['default.yaml', 'admin:\n  tokens: { a: geheim: geheim }\n'],
    ['default.yaml', 'speech:\n  apiKey: geheim\n  apiKey: geheim\n'],
    ['default.json', '{"speech": {"apiKey": "geheim" x'],
    ['local.yaml', '- geheim\n'],
  ])('names a broken %s without showing what is in it', (name, content) => {
    const place = folder({ [name]: content });
    const attempt = () => loadConfig('everything', { NODE_CONFIG_DIR: place });
    expect(attempt).toThrow(new RegExp(name));
    expect(attempt).not.toThrow(/geheim/);
  });

  it('names the place of a key that occurs twice in one map', () => {
    const place = folder({ 'default.yaml': 'limits:\n  minBytesPerSecond: 1\n  minBytesPerSecond: 2\n' });
    expect(() => loadConfig('everything', { NODE_CONFIG_DIR: place })).toThrow(
      /line 3, column 3: duplicate key/,
    );
  });

  it('names all that cannot be read, and what is wrong in the rest', () => {
    const broken = {
      'default.yaml': 'receiver: { port: [\n',
      'local.json': '{"a": 1,}',
      'production.yaml': 'a: b',
    };
    const env = {
      NODE_ENV: 'production',
      NODE_CONFIG: '{',
      TR_LOG_LEVEL: 'loud',
      TR_MINE: 'mapped, perhaps',
    };
    const attempt = () => loadConfig('everything', { ...env, NODE_CONFIG_DIR: `${folder(broken)}:/nowhere` });
    expect(attempt).toThrow(/6 faults/);
    for (const part of [/default\.yaml: line/, /local\.json/, /NODE_CONFIG_DIR \/nowhere/, /in NODE_CONFIG,/])
      expect(attempt).toThrow(part);
    expect(attempt).toThrow(/^ {2}a: found an unknown setting/m);
    expect(attempt).toThrow(/^ {2}log\.level: found "loud"/m);
  });
});

describe('loadConfig of what uses the service', () => {
  it('needs neither tokens nor credentials, also in production', () => {
    const yaml = [
      `admin: { host: 0.0.0.0, tokens: { ops: "\${file:/nowhere/token}" } }`,
      `sources: { intake: { keyPrefix: in, credentials: { a: { headers: ["X-Token: \${env:TR_NOT_HERE}"], expires: 2027-01-01T00:00:00Z } } } }`,
    ];
    const env = { NODE_ENV: 'production', NODE_CONFIG_DIR: folder({ 'default.yaml': yaml.join('\n') }) };
    expect(loadConfig('service', env).sources.intake).toMatchObject({
      keyPrefix: 'in/',
      credentials: { a: { expires: Date.parse('2027-01-01T00:00:00Z') } },
    });
    expect(() => loadConfig('everything', env)).toThrow(/2 faults/);
  });

  it('needs no secret of a subscriber, and keeps what it asks for', () => {
    const secret = `whsec_${Buffer.alloc(32, 's').toString('base64')}`;
    const settings = `{ url: "\${env:CRM_URL}", secrets: ["\${env:CRM_SECRET}"], events: [job.stored] }`;
    const env = { NODE_CONFIG_DIR: folder({ 'default.yaml': `subscribers: { crm: ${settings} }` }) };
    expect(loadConfig('service', env).subscribers.crm?.events).toEqual(['job.stored']);
    expect(() => loadConfig('service and subscribers', env)).toThrow(/CRM_URL.*CRM_SECRET/s);
    const set = { ...env, CRM_URL: 'https://crm.example/hook', CRM_SECRET: secret };
    expect(loadConfig('service and subscribers', set).subscribers.crm).toMatchObject({
      url: 'https://crm.example/hook',
      secrets: [secret],
    });
    expect(JSON.stringify(loadConfig('service', set))).not.toContain(secret);
  });

  it('names all other faults', () => {
    const settings = { sources: { intake: { allow: ['eu9'] } }, limits: { maxPart: 1 } };
    expect(() => loadConfig('service', { NODE_CONFIG: JSON.stringify(settings) })).toThrow(/2 faults/);
  });
});

describe('loadConfig of what uses nothing but the store', () => {
  it('needs no secret but those of the store', () => {
    const text = [
      `admin: { tokens: { ops: "\${file:/nowhere/token}" } }`,
      `sources: { intake: { credentials: { a: { headers: ["X-Token: \${env:TR_NOT_HERE}"] } } } }`,
      `speech: { apiKey: "\${file:/nowhere/key}", retention: 5d }`,
    ];
    const yaml = (more: string) => ({
      NODE_ENV: 'production',
      NODE_CONFIG_DIR: folder({ 'default.yaml': [...text, more].join('\n') }),
    });
    const { speech } = loadConfig('store', yaml(''));
    expect({ apiKey: speech.apiKey, retention: speech.retention }).toEqual({
      apiKey: null,
      retention: 5 * 86_400_000,
    });
    const key = `store: { url: "s3://bucket", s3: { accessKeyId: "\${file:/nowhere/id}", secretAccessKey: x } }`;
    expect(() => loadConfig('store', yaml(key))).toThrow(/has a fault.*accessKeyId/s);
  });
});

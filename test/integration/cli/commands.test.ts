import os from 'node:os';
import { afterAll, describe, expect, it } from '@jest/globals';
import { REASONS } from '../../../src/domain/reasons.js';
import { configFolder } from '../../support/processes/config-folder.js';
import { runCommand } from '../../support/processes/run-command.js';

const SECRET = 'a-secret-of-good-length';
const folder = configFolder({
  'default.yaml': `
receiver: { publicUrl: "https://transcripts.example/", trustedProxies: [10.0.0.0/8] }
sources:
  default: null
  intake:
    allow: [eu1]
    contents: [transcript, jobinfo]
    context: [call]
    credentials:
      first: { headers: ["X-Token: ${SECRET}-1"], expires: "2999-01-01" }
      leaked: { headers: ["X-Token: ${SECRET}-0"] }
      lasting: { headers: ["X-Token: ${SECRET}-2"] }
      over: { headers: ["X-Token: ${SECRET}-3"], expires: "2020-01-01" }
      next: { headers: ["X-Token: ${SECRET}-4"], notBefore: "2999-01-01" }
`,
});
const env = { NODE_CONFIG_DIR: folder.path };

afterAll(() => folder.remove());

describe('reasons', () => {
  it('explains each code, or those that are asked for', async () => {
    const all = await runCommand(['reasons']);
    expect(
      all.stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(':')[0]),
    ).toEqual(Object.keys(REASONS));
    const one = await runCommand(['reasons', 'write-race']);
    expect(one.stdout).toBe(
      'write-race: another delivery wrote the same artefact meanwhile. The service retries; reconcile fetches the rest.\n',
    );
  });

  it('says of a text that is no code that it is none', async () => {
    const result = await runCommand(['reasons', 'constructor']);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain('"constructor" is not a code of a reason');
  });
});

describe('check-config', () => {
  it('says that the shipped configuration is valid, from any working directory', async () => {
    const result = await runCommand(['check-config'], {}, os.tmpdir());
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout).toMatch(/valid/);
    expect(result.stdout).toMatch(/warning: sources\.default has no credentials/);
  });

  it('names the secrets that it read', async () => {
    const secret = `whsec_${Buffer.alloc(32, 'x').toString('base64')}`;
    const config = {
      admin: { tokens: { ada: 'ada-ada-ada-ada-ada-ada', bob: 'bob-bob-bob-bob-bob-bob' } },
      subscribers: { crm: { url: 'https://crm.example.com/', secrets: [secret, secret.replace('4', '5')] } },
    };
    const { stdout } = await runCommand(['check-config'], { NODE_CONFIG: JSON.stringify(config) });
    expect(stdout).toMatch(/ {2}admin tokens: ada, bob\n/);
    expect(stdout).toMatch(/ {2}subscriber crm: 2 secrets\n/);
    expect(stdout).not.toMatch(/ada-ada|whsec_/);
  });

  it('names all faults on standard error and exits with 2', async () => {
    const result = await runCommand(['check-config'], { NODE_CONFIG: '{"receiver":{"prot":1,"port":"x"}}' });
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(/2 faults/);
    expect(result.stderr).toMatch(/receiver\.prot: .*a known setting \(host, port, /);
    expect(result.stderr).not.toMatch(/ at .*\.js:/);
  });

  it('prints faults as JSON when asked', async () => {
    const result = await runCommand(['check-config', '--json'], { TR_PORT: 'x', TR_ADMIN_TOKEN: 'geheim' });
    expect(result.code).toBe(2);
    expect(JSON.parse(result.stdout)).toMatchObject({
      valid: false,
      faults: [
        { path: 'receiver.port', found: '"x"' },
        { path: 'admin.tokens.environment', found: null },
      ],
    });
    expect(result.stdout).not.toContain('geheim');
  });

  it('prints validity and warnings as JSON when asked', async () => {
    const result = await runCommand(['check-config', '--json'], env);
    expect(result.code).toBe(0);
    const warning = expect.stringMatching(/sources\.intake\.credentials\.over expired/);
    expect(JSON.parse(result.stdout)).toEqual({ valid: true, faults: [], warnings: [warning] });
  });
});

describe('explain', () => {
  it('explains an accepted request in the shape of the admin API', async () => {
    const headers = ['-H', 'X-Forwarded-For: 40.74.41.91', '-H', `X-Token: ${SECRET}-1`];
    const result = await runCommand(
      ['explain', 'intake', '--address', '10.0.0.1', ...headers, '--json'],
      env,
    );
    expect(result.code).toBe(0);
    expect(JSON.parse(result.stdout)).toEqual({
      decision: 'accept',
      status: 200,
      reason: expect.any(String),
      clientIp: '40.74.41.91',
      region: 'eu1',
      rule: 'eu1',
      credential: 'first',
      gates: [
        { gate: 'source', passed: true, detail: 'the source intake is configured', toPass: null },
        { gate: 'address', passed: true, detail: '40.74.41.91 is admitted by eu1', toPass: null },
        { gate: 'credential', passed: true, detail: 'the credential first matches', toPass: null },
      ],
    });
  });

  it('explains a refusal in words, which is an answer and no failure', async () => {
    const result = await runCommand(
      ['explain', 'intake', '--address', '40.74.41.91', '-H', `X-Token: ${SECRET}-3`],
      env,
    );
    expect(result.code).toBe(0);
    expect(result.stdout).toMatch(/rejected with 401/);
    expect(result.stdout).toMatch(/has expired/);
    expect(result.stdout).not.toContain(SECRET);
  });

  it('says nothing of what the checks of a rejected request did not come to', async () => {
    const address = ['--address', '10.0.0.1', '-H', `X-Token: ${SECRET}-1`];
    const unknown = await runCommand(['explain', 'other', ...address], env);
    expect(unknown.stdout).toContain('rejected with 404');
    expect(unknown.stdout).not.toMatch(/^ {2}(client|region|rule|credential) /m);
    const refused = await runCommand(['explain', 'intake', ...address], env);
    expect(refused.stdout).toContain('rejected with 403');
    expect(refused.stdout).toMatch(/^ {2}client +10\.0\.0\.1$/m);
    expect(refused.stdout).not.toMatch(/^ {2}credential /m);
    expect(refused.stdout).toContain('pass  credential: the credential first matches');
  });

  it.each([
    [['explain']],
    [['explain', '--address', '10.0.0.1', '-H', 'nonsense']],
    [['explain', '--adress', '10.0.0.1']],
    [['explain', '--address', 'foo']],
    [['explain', 'intake', '--address', '10.0.0.1:443']],
  ])('exits with 2 for wrong usage: %j', async (args) => {
    expect(await runCommand(args)).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('notification-config', () => {
  it('prints what to submit with a job, with the credential that lasts longest and was added last', async () => {
    const result = await runCommand(['notification-config', 'intake'], env);
    expect(result).toMatchObject({
      code: 0,
      stderr: 'transcript-receiver: the URL has no context; add --context <name>=<value> for call\n',
    });
    expect(JSON.parse(result.stdout)).toEqual({
      notification_config: [
        {
          url: 'https://transcripts.example/callbacks/intake',
          auth_headers: [`X-Token: ${SECRET}-2`],
          contents: ['transcript', 'jobinfo'],
        },
      ],
    });
  });

  it('makes an entry of each --contents, with the credential and method asked for', async () => {
    const options = [
      '--contents',
      'transcript.srt',
      '--contents',
      'data, jobinfo',
      '--credential',
      'first',
      '--method',
      'PUT',
      '--context',
      'call=7/a',
    ];
    const result = await runCommand(['notification-config', 'intake', ...options], env);
    const [first, second] = JSON.parse(result.stdout).notification_config;
    expect(first).toMatchObject({
      url: 'https://transcripts.example/callbacks/intake?call=7%2Fa&contents=transcript.srt',
      method: 'PUT',
      auth_headers: [`X-Token: ${SECRET}-1`],
    });
    expect(second.contents).toEqual(['data', 'jobinfo']);
  });

  it.each<[string[], RegExp]>([
    [['nobody'], /unknown source nobody; configured sources are intake/],
    [['__proto__'], /unknown source __proto__/],
    [['intake', '--credential', 'nix'], /no credential nix/],
    [['intake', '--contents', 'pdf'], /"pdf"; known are/],
    [['intake', '--context', 'cal=1'], /does not admit cal: set sources\.intake\.context to \[call, cal\]/],
    [['intake', '--url', 'nowhere'], /absolute address/],
    [['intake', '--url', 'https://h.example/?a=1'], /without query/],
    [['intake', '--url', 'https://u:p@h.example/'], /without query, fragment and user name/],
  ])('exits with 2 for %j', async (args, message) => {
    const result = await runCommand(['notification-config', ...args], env);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
    expect(result.stderr).not.toContain(SECRET);
  });

  it.each([
    ['first', ''],
    [
      'over',
      'transcript-receiver: the credential over expired at 2020-01-01T00:00:00.000Z: callbacks with it are rejected\n',
    ],
    [
      'next',
      'transcript-receiver: the credential next is not valid before 2999-01-01T00:00:00.000Z: earlier callbacks with it are rejected\n',
    ],
  ])('says of a credential that is asked for whether it is valid now: %s', async (credential, stderr) => {
    const args = ['notification-config', 'intake', '--context', 'call=1', '--credential', credential];
    expect(await runCommand(args, env)).toMatchObject({ code: 0, stderr });
  });

  it('takes the only source when none is named, and asks for one where there are several', async () => {
    const url = ['--url', 'https://transcripts.example'];
    const alone = await runCommand(['notification-config', ...url], env);
    expect(JSON.parse(alone.stdout).notification_config[0].url).toContain('/callbacks/intake');
    const source = { credentials: { a: { headers: [`X-Token: ${SECRET}-1`] } } };
    const several = { NODE_CONFIG: JSON.stringify({ sources: { east: source, west: source } }) };
    for (const args of [
      ['notification-config', ...url],
      ['explain', '--address', '10.0.0.1'],
      ['doctor', ...url],
    ]) {
      const { code, stderr } = await runCommand(args, several);
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringContaining('name one of the sources: east, west'),
      });
    }
  });

  it('asks for the public address when none is known', async () => {
    const result = await runCommand(['notification-config']);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/--url/);
  });
});

describe('the command line', () => {
  it('lists its commands', async () => {
    const result = await runCommand(['--help']);
    expect(result.code).toBe(0);
    for (const command of ['serve', 'check-config', 'explain', 'notification-config']) {
      expect(result.stdout).toContain(command);
    }
  });

  it.each([['merge'], ['verify'], ['summary'], ['transcript', 'job1']])(
    '%s exits with 4 where there is no store: 1 says that nothing was found',
    async (...args) => {
      const store = { store: { url: `file:${folder.path}/not-mounted` } };
      const { code, stdout, stderr } = await runCommand(args, { NODE_CONFIG: JSON.stringify(store) });
      expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
      expect(stderr).toContain('holds no store');
    },
  );

  it('refuses an unknown command, and says where they are listed', async () => {
    const result = await runCommand(['chekc-config']);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(/unknown command chekc-config; see --help/);
  });

  it('prints its version', async () => {
    expect(await runCommand(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+/),
    });
  });
});

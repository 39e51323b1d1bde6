import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { rememberStore } from '../../../src/app/store/known-stores.js';
import type { Finding } from '../../../src/cli/doctor/finding.js';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.js';
import { openStore } from '../../../src/store/open-store.js';
import { visibleKeys } from '../../support/ledger/ledger-of.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { type S3StandIn, startS3StandIn } from '../../support/store/s3-stand-in.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const TOKEN = 'correct-horse-battery-staple';
const CREDENTIALS = { main: { headers: [`X-Callback-Token: ${TOKEN}`] } };
const SECRETS = [`whsec_${Buffer.alloc(24, 1).toString('base64')}`];

async function doctor(
  settings: Record<string, unknown>,
  ...given: (string | { readonly env: Record<string, string> })[]
) {
  const args = given.filter((each) => typeof each === 'string');
  const more = given.find((each) => typeof each === 'object')?.env;
  const env = { NODE_CONFIG: JSON.stringify(settings), NODE_NO_WARNINGS: '1', ...more };
  const { code, stdout, stderr } = await runCommand(['doctor', '--json', ...args], env);
  const { verdict, findings } = (stdout === '' ? {} : JSON.parse(stdout)) as {
    verdict?: string;
    findings?: Finding[];
  };
  const about = (check: string) => (findings ?? []).filter((finding) => finding.check === check);
  return { code, stdout, stderr, verdict, about, one: (check: string) => about(check)[0] };
}

describe('doctor', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let fileStore: Record<string, unknown>;
  let place: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    const store = { url: `file:${folder.path}`, partSize: 65_536 };
    await (await openStore(store)).begin();
    fileStore = { store };
  });

  afterAll(() => folder.remove());
  beforeEach(async () => {
    place = await temporaryFolder();
  });
  afterEach(() => place.remove());

  it('finds a healthy file store healthy and leaves nothing behind', async () => {
    const { code, stderr, one } = await doctor(fileStore);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const check of ['store', 'store conditional writes', 'store multipart']) {
      expect(one(check)).toMatchObject({ verdict: 'ok', advice: null });
    }
    expect(await visibleKeys(folder.path, '')).toEqual([]);
  });

  it('says the same in plain words, with what to do', async () => {
    const { stdout, code } = await runCommand(['doctor'], { NODE_CONFIG: JSON.stringify(fileStore) });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {6} store multipart: /m);
    expect(stdout).toMatch(/^warning {2}configuration: sources\.default has no credentials.*\n +-> /m);
    expect(stdout).toMatch(/^0 failed, 1 warning, \d+ ok, \d+ skipped\.$/m);
  });

  it('warns of a folder without a store, says whether one can begin there, and begins none', async () => {
    const store = { url: `file:${place.path}/unmounted`, partSize: '64KiB' };
    const first = await doctor({ store });
    expect(first.one('store folder')).toMatchObject({
      verdict: 'warning',
      message: expect.stringMatching(/holds no store: .*its volume is not mounted/),
      advice: expect.stringMatching(/mount the volume/),
    });
    expect(first.one('store')).toMatchObject({ verdict: 'ok' });
    expect(await readdir(place.path)).toEqual([]);
    // A folder that was there stays, as empty as it was.
    await mkdir(`${place.path}/unmounted`);
    expect((await doctor({ store })).one('store folder')).toBeDefined();
    expect(await readdir(`${place.path}/unmounted`)).toEqual([]);
    await writeFile(`${place.path}/unmounted/photo.jpg`, '');
    expect((await doctor({ store })).one('store')).toMatchObject({
      verdict: 'failed',
      message: expect.stringMatching(/neither a store nor empty/),
    });
  });

  it('fails where a store has lost its marker, and writes no new one, as status does not: receivers would take it for another', async () => {
    const directory = `${place.path}/unmarked`;
    const settings = { store: { url: `file:${directory}`, partSize: 65_536 } };
    const store = await openStore(settings.store);
    await store.create('jobs/job/data', Buffer.from('x'), { contentType: 'text/plain', metadata: {} });
    await rm(`${directory}/.transcript-receiver`);
    const { code, one } = await doctor(settings);
    expect(code).toBe(1);
    expect(one('store')).toMatchObject({
      verdict: 'failed',
      message: expect.stringMatching(/has lost its marker .*restore that file from a backup/),
    });
    const status = await runCommand(['status'], { NODE_CONFIG: JSON.stringify(settings) });
    expect(status).toMatchObject({ code: 2, stdout: expect.stringMatching(/has lost its marker/) });
    expect(await readdir(directory)).not.toContain('.transcript-receiver');
  });

  it('fails where this machine remembers a store that is gone, or another one', async () => {
    const cache = `${place.path}/cache`;
    const remember = (location: string) =>
      rememberStore(cache, { location, id: 'the-former', pinned: false });
    const directory = `${place.path}/vanished`;
    const settings = { store: { url: `file:${directory}`, partSize: 65_536 } };
    remember(`file:${directory}`);
    const gone = await doctor(settings, { env: { CACHE_DIRECTORY: cache } });
    expect(gone.code).toBe(1);
    expect(gone.one('store')).toMatchObject({
      verdict: 'failed',
      message: expect.stringMatching(/holds no store.*the-former was there at 20/),
      advice: expect.stringMatching(/^Bring it back/),
    });
    expect(await readdir(place.path)).toEqual(['cache']);

    await (await openStore(settings.store)).begin();
    const other = await doctor(settings, { env: { CACHE_DIRECTORY: cache } });
    expect(other.one('store id')).toMatchObject({
      verdict: 'failed',
      message: expect.stringMatching(/the-former was here/),
    });
  });

  it('fails for a store that cannot be written', async () => {
    const { code, one, verdict } = await doctor({ store: { url: 'file:/etc/passwd/none' } });
    expect(code).toBe(1);
    expect(verdict).toBe('failed');
    expect(one('store')).toMatchObject({ verdict: 'failed', advice: expect.stringContaining('permissions') });
  });

  it('names faults of the configuration and exits with 2', async () => {
    const { code, one } = await doctor({ receiver: { prot: 1 } });
    expect(code).toBe(2);
    expect(one('configuration')).toMatchObject({
      verdict: 'failed',
      message: expect.stringContaining('receiver.prot'),
    });
    expect(one('store, service and subscribers')).toMatchObject({ verdict: 'skipped' });
  });

  it('names the setting that a bucket lacks, goes on with what needs no store, and says what it skipped', async () => {
    const { code, one } = await doctor({
      store: { url: 's3://my-bucket/transcripts' },
      subscribers: { crm: { url: 'http://127.0.0.1:9/', secrets: SECRETS } },
    });
    expect(code).toBe(1);
    expect(one('store')?.message).toMatch(/Region is missing; set store\.s3\.region /);
    expect(one('service')).toMatchObject({ verdict: 'skipped' });
    expect(one('subscribers')).toMatchObject({
      verdict: 'skipped',
      message: expect.stringContaining('the store cannot be opened'),
    });
  });

  it('warns of a credential about to expire', async () => {
    const expires = new Date(Date.now() + 86_400_000).toISOString();
    const { about } = await doctor({
      ...fileStore,
      sources: { default: { allow: ['eu1'], credentials: { main: { ...CREDENTIALS.main, expires } } } },
    });
    const texts = about('configuration').map(({ message }) => message);
    expect(texts).toContainEqual(expect.stringMatching(/credentials\.main expires within/));
  });

  it.each([
    [['--url', 'nowhere']],
    [['--url', 'https://a.example/?x=1']],
    [['--url', 'http://127.0.0.1:1', '--source', 'nobody']],
    [['--source', 'nobody']],
    [['--credential', 'main']],
    [['--urll', 'x']],
  ])('exits with 2 for wrong usage: %j', async (args) => {
    expect(await doctor(fileStore, ...args)).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('doctor before S3', () => {
  let standIn: S3StandIn;

  beforeAll(async () => {
    standIn = await startS3StandIn();
  });

  afterEach(() => {
    standIn.state.objects.clear();
    standIn.misbehave = () => null;
    standIn.ignoreConditions = false;
    standIn.state.versioning = null;
    standIn.state.objectLock = false;
    standIn.state.defaultRetention = null;
  });

  afterAll(() => standIn.close());

  const settings = () => ({
    store: {
      url: 's3://bucket/prefix',
      partSize: '5MiB',
      s3: {
        endpoint: standIn.endpoint,
        forcePathStyle: true,
        accessKeyId: 'a',
        secretAccessKey: 'b',
        // On a busy machine a request that times out would leave its object behind.
        retries: 2,
        requestTimeout: '60s',
      },
    },
  });

  it('fails where only the ledger cannot be read, and sends nobody back to itself', async () => {
    const report = { report: [{ code: 'not-ready', params: { reason: 'it hangs', replica: 'one' } }] };
    const body = Buffer.from(JSON.stringify(report));
    standIn.state.put('prefix/.canary/one', body, {}, body.length);
    const isOfLedger = (query: URLSearchParams) => query.get('prefix')?.startsWith('prefix/ledger') === true;
    standIn.misbehave = ({ operation, query }) =>
      operation === 'ListObjects' && isOfLedger(query)
        ? { kind: 'answer', status: 403, code: 'AccessDenied' }
        : null;
    const { code, one } = await doctor(settings());
    expect([code, one('store')?.verdict]).toEqual([1, 'ok']);
    expect(one('callbacks')).toMatchObject({
      verdict: 'failed',
      message: expect.stringMatching(/cannot be read: .*access denied/),
      advice: expect.stringMatching(/^Check the permissions: /),
    });
    expect(one('replicas')).toMatchObject({ verdict: 'failed', advice: 'See the log of the replica.' });
    standIn.state.objects.delete('prefix/.canary/one');
  });

  it('advises what mends a store that cannot be written', async () => {
    standIn.misbehave = ({ operation }) =>
      operation === 'PutObject' ? { kind: 'answer', status: 403, code: 'QuotaExceeded' } : null;
    const found = await doctor(settings());
    expect(found.code).toBe(1);
    expect(found.one('store')).toMatchObject({
      verdict: 'failed',
      message: expect.stringContaining('QuotaExceeded'),
      advice: expect.stringContaining('Raise the quota'),
    });
  });

  it('names every prefix that a receiver cannot use, and what that stops', async () => {
    const isTried = (key: string) => /^prefix\/\.(probe|doctor)\//.test(key);
    standIn.misbehave = ({ operation, key }) =>
      (operation === 'PutObject' && !isTried(key)) || key.startsWith('prefix/.erasure-log/')
        ? { kind: 'answer', status: 403, code: 'AccessDenied' }
        : null;
    const { about } = await doctor({
      ...settings(),
      sources: { default: {}, other: { keyPrefix: 'other/' } },
      subscribers: { crm: { url: 'http://127.0.0.1:9/', secrets: SECRETS } },
    });
    const found = about('store prefixes').map(({ message }) => message);
    expect(found.map((message) => /below (.+?): .*access denied/.exec(message)?.[1]).sort()).toEqual(
      [
        ...[
          'jobs/',
          'other/jobs/',
          'ledger/',
          '.erasure-log/',
          'quarantine/',
          '.quarantine-jobs/',
          '.conflicts/',
        ],
        ...['ledger-hours/', '.erasures/', '.ended/', 'replays/', 'reports/', 'outbox/', '.outbox-jobs/'],
        ...['.notices/', '.canary/'],
      ].sort(),
    );
    expect(found).toContainEqual(expect.stringMatching(/below other\/jobs\/: .*\. .*other/));
    expect(found).toContainEqual(expect.stringMatching(/below \.canary\/: .* No receiver is ready\.$/));
    expect(found).toContainEqual(
      expect.stringMatching(/below replays\/: .* No replay can begin or go on\.$/),
    );
  });

  it('finds no lifecycle rule and no versions, and says what a rule is for', async () => {
    const { code, one } = await doctor(settings());
    expect(code).toBe(0);
    expect(one('store multipart')).toMatchObject({ verdict: 'ok' });
    expect(one('store lifecycle')).toMatchObject({
      verdict: 'warning',
      advice: expect.stringContaining('lifecycle.json'),
    });
    for (const check of ['clock', 'store versions']) expect(one(check)).toMatchObject({ verdict: 'ok' });
    expect([...standIn.state.objects.keys()]).toEqual([]);
    expect(standIn.state.uploads.size).toBe(0);
  });

  it('says what versions and Object Lock cost, also where nothing can be written', async () => {
    standIn.misbehave = ({ operation }) =>
      operation === 'PutObject' ? { kind: 'answer', status: 403, code: 'AccessDenied' } : null;
    standIn.state.versioning = 'Enabled';
    const versioned = (await doctor(settings())).one('store versions');
    expect(versioned).toMatchObject({ verdict: 'warning', message: expect.stringContaining('old version') });
    standIn.state.objectLock = true;
    const locked = (await doctor(settings())).one('store versions');
    expect(locked).toMatchObject({
      verdict: 'warning',
      message: expect.stringMatching(/^Object Lock is on, without a default retention/),
    });
    standIn.state.defaultRetention = 30;
    const costly = (await doctor(settings())).one('store versions');
    expect(costly).toMatchObject({ verdict: 'warning', message: expect.stringContaining('8,640 a day') });
  });

  it('fails for a store that ignores conditions, unless that was accepted', async () => {
    standIn.ignoreConditions = true;
    const strict = await doctor(settings());
    expect(strict.code).toBe(1);
    expect(strict.one('store conditional writes')).toMatchObject({ verdict: 'failed' });
  });

  it('reports a clock that is far off, also when the store therefore rejects every request', async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    standIn.misbehave = () => ({
      kind: 'answer',
      status: 403,
      code: 'RequestTimeTooSkewed',
      headers: { date },
    });
    const { code, one } = await doctor(settings());
    expect(code).toBe(1);
    expect(one('clock')).toMatchObject({
      verdict: 'failed',
      message: expect.stringMatching(/clock is 3[56]\d\d s behind/),
    });
  });
});

/** A store that is tried with small parts, and of which nothing stays. */
const store = { store: { url: `file:${join(tmpdir(), `never-made-${process.pid}`)}`, partSize: '64KiB' } };

describe('doctor and the service', () => {
  let simulator: Simulator;

  beforeAll(async () => {
    simulator = await createSimulator({ regions: { eu1: 0, us1: 0 } });
  });

  afterAll(() => simulator.close());

  it('asks each region, and distinguishes a valid key from an invalid one', async () => {
    const regions = {
      eu1: { batchUrl: simulator.batchUrls.eu1 },
      us1: { batchUrl: `${simulator.keysUrl}/elsewhere` },
    };
    const good = await doctor({ ...store, speech: { apiKey: simulator.apiKey, regions } });
    expect(good.one('service eu1')).toMatchObject({ verdict: 'ok' });
    expect(good.one('service us1')).toMatchObject({
      verdict: 'failed',
      advice: expect.stringContaining('batchUrl'),
    });
    const bad = await doctor({ ...store, speech: { apiKey: 'not-the-right-key', regions } });
    expect(bad.code).toBe(1);
    expect(bad.one('service eu1')).toMatchObject({
      verdict: 'failed',
      advice: expect.stringContaining('apiKey'),
    });
    expect(bad.stdout).not.toContain('not-the-right-key');
  });
});

describe('doctor and a service that asks for a pause', () => {
  it('says so at once', async () => {
    const simulator = await createSimulator({ regions: { eu1: 0 } });
    simulator.faults.add({
      kind: 'answer',
      operation: 'list',
      status: 429,
      headers: { 'retry-after': '200' },
    });
    const regions = { eu1: { batchUrl: simulator.batchUrls.eu1 } };
    const { one } = await doctor({ ...store, speech: { apiKey: simulator.apiKey, regions } });
    expect(one('service eu1')).toMatchObject({
      verdict: 'failed',
      advice: expect.stringContaining('maxRequestsPerSecond'),
    });
    await simulator.close();
  });
});

describe('doctor through the public address', () => {
  let service: RunningService;
  const fronts: Server[] = [];
  const sources = {
    default: { credentials: CREDENTIALS, maxBytes: '1MiB' },
    elsewhere: { allow: ['eu1'], credentials: CREDENTIALS },
  };

  beforeAll(async () => {
    service = await startService({ receiver: { trustedProxies: ['127.0.0.1'] }, sources });
  });

  afterAll(async () => {
    for (const front of fronts) front.close().closeAllConnections();
    await service.stop();
  });

  const settings = () => ({ store: { url: `file:${service.folder}`, partSize: '64KiB' }, sources });

  async function front(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    server.on('checkContinue', listener);
    fronts.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('finds its own callback in the ledger, with the address and credential the receiver saw', async () => {
    const { code, one, stdout } = await doctor(settings(), '--url', service.publicUrl);
    expect(one('public callback')).toMatchObject({
      verdict: 'ok',
      message: expect.stringMatching(/client address 127\.0\.0\.1, credential main, body none/),
    });
    expect(one('public body size')).toMatchObject({
      verdict: 'ok',
      message: expect.stringContaining('1048576'),
    });
    expect(one('public surface')).toMatchObject({ verdict: 'ok' });
    expect(stdout).not.toContain(TOKEN);
    expect(await visibleKeys(service.folder, 'jobs')).toEqual([]);
    const env = { NODE_CONFIG: JSON.stringify(settings()) };
    const failures = await runCommand(['failures', '--json'], env);
    expect(JSON.parse(failures.stdout)).toMatchObject({ failures: [] });
    // Whoever connects from a trusted proxy's address can claim anything: here that is doctor itself.
    expect(one('public client address')).toMatchObject({
      verdict: 'failed',
      advice: expect.stringContaining('trustedProxies'),
    });
    expect(code).toBe(1);
  });

  it('does not call the receiver open to anyone where doctor itself connects from a trusted address', async () => {
    const receiver = { trustedProxies: ['127.0.0.1'] };
    for (const source of ['default', 'elsewhere']) {
      const { one } = await doctor(
        { ...settings(), receiver },
        '--url',
        service.publicUrl,
        '--source',
        source,
      );
      expect(one('public client address')).toMatchObject({
        verdict: 'warning',
        message: expect.stringContaining('127.0.0.1'),
      });
    }
  });

  it('explains a refusal by address instead of failing', async () => {
    const { one } = await doctor(settings(), '--url', service.publicUrl, '--source', 'elsewhere');
    expect(one('public callback')).toMatchObject({
      verdict: 'warning',
      message: expect.stringContaining('127.0.0.1'),
    });
  });

  it('fails when the service runs with another credential', async () => {
    const other = { default: { credentials: { main: { headers: [`X-Callback-Token: ${TOKEN}-other`] } } } };
    const { code, one } = await doctor({ ...settings(), sources: other }, '--url', service.publicUrl);
    expect(code).toBe(1);
    expect(one('public callback')).toMatchObject({
      verdict: 'failed',
      message: expect.stringContaining('401'),
    });
  });

  it('notices that the ledger is elsewhere', async () => {
    const folder = await temporaryFolder();
    const elsewhere = { ...settings(), store: { url: `file:${folder.path}`, partSize: '64KiB' } };
    const { one } = await doctor(elsewhere, '--url', service.publicUrl);
    expect(one('public callback')).toMatchObject({ verdict: 'warning' });
    await folder.remove();
  });

  it.each<[string, RequestListener, string, RegExp]>([
    [
      'redirects',
      (_request, response) => response.writeHead(308, { location: 'https://x.example/' }).end(),
      'public address',
      /redirects to https:\/\/x\.example\//,
    ],
    [
      'has no replica',
      (_request, response) => response.writeHead(502).end('<html>Bad Gateway</html>'),
      'public address',
      /answered 502/,
    ],
  ])('names a front that %s', async (_, listener, check, message) => {
    const { code, one } = await doctor(settings(), '--url', await front(listener));
    expect(code).toBe(1);
    expect(one(check)).toMatchObject({ verdict: 'failed', message: expect.stringMatching(message) });
  });

  it('names a front with a size limit of its own, and metrics that are in reach', async () => {
    const url = await front((request, response) => {
      if (request.method === 'GET') return response.writeHead(200).end('metrics');
      if (Number(request.headers['content-length']) > 0) return response.writeHead(413).end('<html>');
      return response.writeHead(403).end(JSON.stringify({ code: 'address-refused', detail: 'x' }));
    });
    const { one } = await doctor(settings(), '--url', url);
    expect(one('public body size')).toMatchObject({
      verdict: 'failed',
      message: expect.stringContaining('413'),
    });
    expect(one('public surface')).toMatchObject({
      verdict: 'failed',
      message: expect.stringContaining('/metrics'),
    });
  });

  it('fails for an address without a listener', async () => {
    const { code, one } = await doctor(settings(), '--url', 'http://127.0.0.1:1');
    expect(code).toBe(1);
    expect(one('public address')).toMatchObject({
      verdict: 'failed',
      message: expect.stringContaining('cannot be reached'),
    });
  });
});

import { access, rename } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Finding } from '../../src/cli/doctor/finding.js';
import { describeIssue } from '../../src/operations/issues/describe-issue.js';
import { remedyOf } from '../../src/store/store-remedies.js';
import { type RecordingServer, recordingServer } from '../support/http/recording-server.js';
import { type AdminApi, adminApi, sendCallback } from '../support/processes/admin-api.js';
import { type CliResult, runCli } from '../support/processes/run-cli.js';
import { runCommand } from '../support/processes/run-command.js';
import { type RunningService, startListening, startService } from '../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../support/recovery/lost-jobs.js';
import { type Misbehaviour, type S3StandIn, startS3StandIn } from '../support/store/s3-stand-in.js';
import { standInS3 } from '../support/store/stand-in-store.js';
import { until } from '../support/until.js';

/*
 * Every reader beside every state of the store: what could not be read is never shown as none, and the advice fits the state.
 */

const PART = 5 * 1024 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };
/** One that works: a failing one would be an issue of its own. */
const subscribers = () => ({
  crm: {
    url: `${consumer.url}/events`,
    secrets: [`whsec_${Buffer.from('a secret of some 24 bytes').toString('base64')}`],
  },
});
/** Good news, which nobody may read out of a store that was not read. */
const NONE =
  /\bnone\b|never run|not run yet|is empty|No (job is|body|hour|\w+ matches)|has no (body|line)|would be replayed|All is well|Erased|matched +0|intact +0/i;

let consumer: RecordingServer;
let lost: LostJobs;
/** A job whose callback was lost. */
let missing: string;
/** Until health has its facts, and until it says that they are gone, takes a dozen seconds each: all wait for that at the same time. */
let emptied: Promise<Bucket>;
let failing: Promise<readonly Bucket[]>;
let limited: Promise<Bucket>;
let hanging: Promise<Bucket>;
let silent: Promise<readonly Told[]>;

const answer = (status: number, code: string): Misbehaviour => ({ kind: 'answer', status, code });

/** A store of which nothing can be read: its fault, the reason in health, the remedy, and the advice of API and commands. */
const FAULTS: readonly (readonly [string, Misbehaviour, RegExp, RegExp, RegExp])[] = [
  [
    'is away',
    { kind: 'reset' },
    /ECONNRESET/,
    /Check that the store runs/,
    /cannot be reached\. Check that the store runs/,
  ],
  [
    'has no bucket',
    answer(404, 'NoSuchBucket'),
    /bucket does not exist/,
    /Bring it back/,
    /There is no store.*Bring it back/,
  ],
];

beforeAll(async () => {
  consumer = await recordingServer();
  lost = await lostJobs();
  missing = await lost.lose();
  emptied = openBucket();
  limited = openBucket();
  failing = Promise.all(FAULTS.map(([, fault, reason]) => openBlocked(fault, reason)));
  hanging = openBlocked({ kind: 'hang' }, /did not answer/, '2s');
  silent = Promise.all([/./, /^GetObject$/].map(askSilentStore));
});
afterAll(async () => {
  await lost.simulator.close();
  await consumer.close();
});

/** A transcript, a conflict, which is a failing job, and a quarantined body; resolves to the id of that. */
async function fill(service: RunningService, api: AdminApi): Promise<string> {
  await sendCallback(service, 'id=one&status=success', 'x', { 'content-type': 'text/plain' });
  await sendCallback(service, 'id=one&status=success', 'y', { 'content-type': 'text/plain' });
  await sendCallback(service, 'id=bad&status=success', '{"broken', JSON_TYPE);
  await until(async () => (await api.get('/health')).body.last24h?.lines === 3);
  const { body } = await api.get('/quarantine');
  return body.quarantine[0].deliveryId;
}

/** What the health of a receiver has from the store. */
const FROM_STORE = ['last24h', 'reconcile', 'verify', 'subscribers'] as const;
const NO_REPLAY = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const PATHS = [
  '/deliveries?job=one',
  '/jobs/one',
  '/jobs/nosuch',
  '/subscribers',
  '/quarantine',
  '/refusals',
  `/quarantine/${NO_REPLAY}`,
  '/replays',
  `/replays/${NO_REPLAY}`,
];

/** Commands that only read, so that a store that cannot be written makes no difference to them. */
const READING: readonly (readonly string[])[] = [
  ['status'],
  ['failures'],
  ['quarantine'],
  ['quarantine', '--state', 'all'],
  ['reconcile', '--dry-run'],
  ['replay', 'release', '--dry-run'],
  ['replay', '--job', 'bad', '--dry-run'],
  ['replay', 'notify', '--subscriber', 'crm', '--dead', '--dry-run'],
];
/** Those that write, at least their report. */
const writing = (body: string): readonly (readonly string[])[] => [
  ['reconcile'],
  ['verify'],
  ['replay', '--job', missing],
  ['refetch', missing],
  ['erase', 'one', '--yes'],
  ['dismiss', body, '--reason', 'test'],
  ['acknowledge', 'one', '--reason', 'test'],
  ['doctor'],
];

const withoutTimes = (text: string) => text.replace(/\d{4}-\d\d-\d\dT[\d:.-]+Z/g, 'TIME');

/** Without an entry nothing is read from the store. */
const LISTED_BY_INDEX = ['/refusals', '/replays'];

async function expectUnread(api: AdminApi, advice: RegExp): Promise<void> {
  // The index knows the places of lines, and the store has their texts.
  for (const path of [
    ...PATHS.filter((each) => !LISTED_BY_INDEX.includes(each)),
    '/failures',
    '/deliveries?limit=1',
  ]) {
    const { status, body } = await api.get(path);
    expect([path, status, body.detail]).toEqual([path, 503, expect.stringMatching(advice)]);
  }
  // These are answered from the index: what is in it stays known, and what is not is said.
  const [refusals, replays] = await Promise.all(
    LISTED_BY_INDEX.map(async (path) => (await api.get(path)).body),
  );
  const { body: summary } = await api.get('/summary');
  expect(summary).toMatchObject({ total: { lines: 3 }, index: { missing: [] } });
  expect(summary.index.until < summary.until).toBe(true);
  expect(refusals).toEqual({ refusals: [], nextCursor: null, index: summary.index });
  expect(replays).toEqual({ replays: [], nextCursor: null, index: summary.index });
}

async function expectNoGoodNews(args: readonly string[], env: Record<string, string>, advice: RegExp) {
  const { code, stdout, stderr } = await runCommand(args, env);
  const told = args[0] === 'doctor' ? stdout : stderr;
  expect([args, told]).toEqual([args, expect.stringMatching(advice)]);
  expect([args, stdout]).toEqual([args, expect.not.stringMatching(NONE)]);
  expect([args, stderr]).toEqual([args, expect.not.stringMatching(NONE)]);
  expect([args, code]).not.toEqual([args, 0]);
}

interface Bucket {
  readonly standIn: S3StandIn;
  readonly service: RunningService;
  readonly api: AdminApi;
  readonly settings: Record<string, unknown>;
  /** The quarantined body. */
  readonly body: string;
  close(): Promise<void>;
}

/** @param impatience of the store, once it is filled, where it is to hang: a busy machine can take a store for one that does */
async function openBucket(impatience: string | null = null): Promise<Bucket> {
  const standIn = await startS3StandIn();
  const settingsWith = (requestTimeout: string) => ({
    ...lost.settings,
    store: {
      url: 's3://bucket/prefix',
      partSize: PART,
      canaryInterval: '1s',
      s3: { ...standInS3(standIn), retries: 0, requestTimeout },
    },
    limits: { memoryBudget: 4 * PART, quarantineBytes: '128KiB' },
    sources: { default: { allowUnauthenticated: true } },
    subscribers: subscribers(),
    recovery: { interval: 'off' },
  });
  let settings = settingsWith('60s');
  let service = await startService(settings);
  const body = await fill(service, adminApi(service));
  if (impatience !== null) {
    await service.stop();
    settings = settingsWith(impatience);
    service = await startService(settings);
  }
  const api = adminApi(service);
  await until(async () => (await api.get('/health')).body.last24h?.lines === 3);
  return {
    standIn,
    service,
    api,
    settings,
    body,
    async close() {
      standIn.misbehave = () => null;
      await service.stop();
      await standIn.close();
    },
  };
}

const healthOf = async ({ api }: Bucket) => (await api.get('/health')).body;

/** Lets all calls fail, until health has each of its facts from after that. */
async function block(bucket: Bucket, fault: Misbehaviour, reason: RegExp): Promise<void> {
  bucket.standIn.misbehave = () => fault;
  await until(async () => {
    const { store, unknown } = await healthOf(bucket);
    return [store, ...FROM_STORE.map((name) => unknown[name])].every((each) => reason.test(each?.reason));
  }, 1000);
}

interface Told {
  readonly status: CliResult;
  readonly doctor: CliResult;
}

/** Somebody waits for these commands: they end although a call of the store would go on for longer than a test may take. */
async function askSilentStore(operations: RegExp): Promise<Told> {
  const standIn = await startS3StandIn();
  const s3 = { ...standInS3(standIn), requestTimeout: '10m', retries: 4 };
  const env = { NODE_CONFIG: JSON.stringify({ store: { url: 's3://bucket', s3 } }) };
  standIn.state.put('.canary/one', Buffer.from('{}'), {}, 2);
  standIn.misbehave = ({ operation }) => (operations.test(operation) ? { kind: 'hang' } : null);
  const [status, doctor] = await Promise.all([
    runCli(['status', '--json'], env),
    runCli(['doctor', '--json'], env),
  ]);
  await standIn.close();
  return { status, doctor };
}

async function openBlocked(fault: Misbehaviour, reason: RegExp, impatience?: string): Promise<Bucket> {
  const bucket = await openBucket(impatience);
  await block(bucket, fault, reason);
  return bucket;
}

async function expectUnknown(bucket: Bucket): Promise<void> {
  let seen = await healthOf(bucket);
  // A busy machine's index may take longer than health waits.
  await until(async () => {
    if (seen.failing !== null && seen.quarantine !== null) return true;
    seen = await healthOf(bucket);
    return false;
  }, 1000);
  for (const name of FROM_STORE) expect([name, seen[name]]).toEqual([name, null]);
  expect(seen.unknown.last24h).toMatchObject({
    reason: expect.stringMatching(/^the ledger cannot be read: /),
    since: expect.stringMatching(/^20/),
  });
  // What the index knows stays known.
  expect(seen.failing).toEqual({ conflict: 1 });
  expect(seen.quarantine).toMatchObject({ waiting: 1 });
  expect(seen.verdict.level).toBe('failing');
  const codes = seen.verdict.issues.map(({ code }: { code: string }) => code);
  expect(codes.filter((code: string) => code.startsWith('reconcile-'))).toEqual([]);
  expect(seen.verdict).toMatchObject({ unseen: expect.arrayContaining(['deliveries']) });
}

describe('beside a bucket', () => {
  let bucket: Bucket;
  let standIn: S3StandIn;
  let api: AdminApi;
  let settings: Record<string, unknown>;
  let env: Record<string, string>;
  let body: string;
  const well = new Map<string, string>();

  beforeAll(async () => {
    bucket = await limited;
    ({ standIn, api, settings, body } = bucket);
    env = { NODE_CONFIG: JSON.stringify(settings) };
    for (const args of READING) well.set(args.join(' '), withoutTimes((await runCommand(args, env)).stdout));
  });
  afterAll(() => bucket.close());

  const health = () => healthOf(bucket);

  describe('that is full', () => {
    beforeAll(async () => {
      const full = answer(507, 'XMinioStorageFull');
      standIn.misbehave = ({ operation }) => (/^(Put|Create|Upload|Complete)/.test(operation) ? full : null);
      await until(async () => !(await health()).store.writable);
    });

    it('health knows what it holds, and says at once what to do', async () => {
      const seen = await health();
      expect(seen).toMatchObject({ unknown: {}, failing: { conflict: 1 }, last24h: { lines: 3 } });
      expect(remedyOf(seen.store.condition)).toMatch(/Free space/);
      const [issue] = seen.verdict.issues;
      expect(issue).toMatchObject({ topic: 'store', code: 'store-not-writable' });
      expect(describeIssue(issue).remedy).toMatch(/Free space/);
    });

    it('answers to the API have all that it holds', async () => {
      const index = { since: null, until: expect.any(String), missing: [] };
      expect((await api.get('/failures')).body).toMatchObject({ counts: { conflict: 1 }, index });
      expect((await api.get('/summary')).body).toMatchObject({ total: { lines: 3 }, index });
      expect((await api.get('/refusals')).body).toMatchObject({ refusals: [], index });
      expect((await api.get('/deliveries')).body).toMatchObject({ deliveries: { length: 3 }, index });
      expect((await api.get('/jobs/one')).body.artefacts).toHaveLength(2);
      expect((await api.get('/quarantine')).body.quarantine).toHaveLength(1);
      expect((await api.get('/subscribers')).body.subscribers).toHaveLength(1);
      expect((await api.get('/replays')).body).toEqual({ replays: [], nextCursor: null, index });
    });

    it('commands that read tell what they tell of a healthy store', async () => {
      // `status` tries to write once no receiver has done so for ten seconds.
      for (const args of READING.filter(([command]) => command !== 'status')) {
        const { stdout } = await runCommand(args, env);
        expect([args, withoutTimes(stdout)]).toEqual([args, well.get(args.join(' '))]);
      }
    });

    it('commands that write say that they could not', async () => {
      for (const args of writing(body)) {
        const { code, stdout, stderr } = await runCommand(args, env);
        const [told, advice] =
          args[0] === 'doctor' ? [stdout, /Free space/] : [stderr, /is full\. Free space/];
        expect([args, told]).toEqual([args, expect.stringMatching(advice)]);
        expect([args, code]).not.toEqual([args, 0]);
      }
    });
  });

  describe('that was never read', () => {
    let receiver: RunningService;

    beforeAll(async () => {
      standIn.misbehave = () => ({ kind: 'reset' });
      receiver = await startListening(settings);
    });
    afterAll(() => receiver.stop());

    it('health has no figure, and metrics leave them out', async () => {
      const { body: seen } = await adminApi(receiver).get('/health');
      const names = ['failing', ...FROM_STORE];
      for (const name of names) expect([name, seen[name]]).toEqual([name, null]);
      expect(Object.keys(seen.unknown)).toEqual(expect.arrayContaining(names));
      expect(seen.verdict).toMatchObject({
        level: 'failing',
        index: { until: null, missing: [] },
        unseen: expect.arrayContaining(['deliveries', 'failing']),
      });
      const metrics = await (await fetch(`${receiver.adminUrl}/metrics`)).text();
      expect(metrics).not.toMatch(/^transcript_receiver_(verify_|recovery_oldest)\S* /m);
    });
  });
});

describe('beside a bucket whose listings turn empty', () => {
  let bucket: Bucket;
  const empty: Bucket['standIn']['quirk'] = (request, proper) => {
    const answer = proper(request);
    if (!/^List(Objects|Versions)$/.test(request.operation)) return answer;
    const text = answer.body.toString().replace(/<(Contents|CommonPrefixes|Version)>.*?<\/\1>/g, '');
    return { ...answer, body: Buffer.from(text) };
  };

  beforeAll(async () => {
    bucket = await emptied;
    bucket.standIn.quirk = empty;
  });
  afterAll(() => bucket.close());

  it('callbacks are stored, and no answer claims that nothing is there', async () => {
    const { api, service, standIn } = bucket;
    const { body: before } = await api.get('/deliveries');
    const callback = await sendCallback(service, 'id=two&status=success', 'x', {
      'content-type': 'text/plain',
    });
    expect(callback.status).toBe(200);
    await until(async () => (await healthOf(bucket)).ledger.error !== null);
    const { verdict } = await healthOf(bucket);
    expect(verdict.level).toBe('failing');
    expect(verdict.issues).toContainEqual(
      expect.objectContaining({
        code: 'ledger-unreadable',
        params: expect.objectContaining({ reason: expect.stringMatching(/is not whole: it lacks ledger\//) }),
      }),
    );
    expect(verdict.index.until <= before.index.until).toBe(true);
    // The replica knows that its own canary is there.
    await until(async () => (await healthOf(bucket)).verdict.unseen.includes('replicas'));
    // It may be there: its index does not reach to now.
    const { until: last } = verdict.index;
    expect(await api.get('/jobs/two')).toMatchObject({ status: 200, body: { index: { until: last } } });
    expect(await api.get('/deliveries')).toMatchObject({ body: { index: { until: last } } });
    const { code, stdout } = await runCommand(['erase', 'two', '--yes'], {
      NODE_CONFIG: JSON.stringify(bucket.settings),
    });
    expect(code).not.toBe(0);
    expect(stdout).not.toMatch(NONE);
    standIn.quirk = null;
    await until(async () => (await api.get('/deliveries')).body.deliveries?.length === 4);
    standIn.quirk = empty;
  });

  it.each(['deliveries', 'verify', 'failures', 'job two', 'transcript two', 'summary', 'quarantine'])(
    'a command without a receiver beside it does not say that nothing is there: %s',
    async (command) => {
      const config = { ...bucket.settings, ledger: { index: { path: '/nowhere/index.sqlite' } } };
      const { code, stdout, stderr } = await runCommand(command.split(' '), {
        NODE_CONFIG: JSON.stringify(config),
      });
      expect(stdout).toBe('');
      expect(code).not.toBe(0);
      expect(stderr).toMatch(/is not whole: it lacks \.store\/marker\.json/);
    },
  );
});

describe.each(FAULTS)('beside a bucket that %s', (name, _fault, _reason, remedy, advice) => {
  let bucket: Bucket;
  let env: Record<string, string>;

  beforeAll(async () => {
    const at = FAULTS.findIndex(([each]) => each === name);
    bucket = (await failing)[at] as Bucket;
    env = { NODE_CONFIG: JSON.stringify(bucket.settings) };
  });

  it('health knows nothing of it, and says why and what to do', async () => {
    await expectUnknown(bucket);
    expect(remedyOf((await healthOf(bucket)).store.condition)).toMatch(remedy);
  });

  it('answers to the API say that it was not read', () => expectUnread(bucket.api, advice));

  it('commands say that it was not read', async () => {
    // All meet the same error: beside the other bucket one that reads and one that writes are enough.
    const commands =
      name === 'is away'
        ? [...READING, ...writing(bucket.body), ['merge']]
        : [['failures'], ['refetch', missing], ['doctor']];
    for (const args of commands) await expectNoGoodNews(args, env, args[0] === 'doctor' ? remedy : advice);
    const { code, stdout } = await runCommand(['status'], env);
    expect([code, stdout]).toEqual([2, expect.stringMatching(remedy)]);
  });
});

it('health knows everything of buckets that are back', async () => {
  for (const bucket of await failing) bucket.standIn.misbehave = () => null;
  for (const bucket of await failing) {
    await until(async () => {
      const { store, unknown } = await healthOf(bucket);
      return store.writable && Object.keys(unknown).length === 0;
    }, 1000);
    const seen = await healthOf(bucket);
    expect(seen).toMatchObject({ last24h: { lines: 3 }, quarantine: { waiting: 1 } });
    // Neither has run: that is known.
    expect(seen).toMatchObject({ reconcile: null, verify: null, subscribers: [{ name: 'crm' }] });
    await bucket.close();
  }
});

describe('beside a bucket that hangs', () => {
  afterAll(async () => (await hanging).close());

  it('health knows nothing of it, and says why', async () => expectUnknown(await hanging));

  it('no receiver is ready, and callbacks do not ask anything more until it answers again', async () => {
    const { service, standIn } = await hanging;
    expect((await fetch(`${service.publicUrl}/readyz`)).status).toBe(503);
    expect((await healthOf(await hanging)).verdict.issues).toContainEqual(
      expect.objectContaining({ code: 'store-not-writable', level: 'failing' }),
    );
    const refused = await sendCallback(service, 'id=refused&status=success', '{}', JSON_TYPE);
    expect(refused).toMatchObject({ status: 503, json: { code: 'store-unavailable' } });
    expect(standIn.requests.filter(({ key }) => key.includes('refused'))).toEqual([]);
    standIn.misbehave = () => null;
    await until(async () => (await fetch(`${service.publicUrl}/readyz`)).status === 200);
    // A busy machine is late once more.
    await until(
      async () => (await sendCallback(service, 'id=back&status=success', '{}', JSON_TYPE)).status === 200,
    );
  });
});

it.each([
  ['that is silent', 0],
  ['whose objects are silent', 1],
])('status and doctor end beside a bucket %s, and say so', async (_, at) => {
  const { status, doctor } = (await silent)[at] as Told;
  const { verdict } = JSON.parse(status.stdout);
  expect([status.code, verdict.issues]).toMatchObject([
    2,
    [{ code: 'store-unreadable', params: { reason: expect.stringMatching(/did not answer within/) } }],
  ]);
  const { findings } = JSON.parse(doctor.stdout) as { findings: Finding[] };
  expect([doctor.code, findings.find(({ check }) => check === 'store')]).toMatchObject([
    1,
    { verdict: 'failed', message: expect.stringMatching(/did not answer within/) },
  ]);
});

describe('beside a folder that is gone', () => {
  let service: RunningService;
  let api: AdminApi;
  let env: Record<string, string>;
  let body: string;

  beforeAll(async () => {
    const settings = {
      ...lost.settings,
      store: { canaryInterval: '1s' },
      retention: { transcript: '90d' },
      subscribers: subscribers(),
      sources: { default: { allowUnauthenticated: true } },
    };
    service = await startService(settings);
    api = adminApi(service);
    const store = { url: `file:${service.folder}`, partSize: '64KiB' };
    env = { NODE_CONFIG: JSON.stringify({ ...settings, store }) };
    body = await fill(service, api);
    await rename(service.folder, `${service.folder}-away`);
    await until(async () => !(await api.get('/health')).body.store.writable);
  });
  afterAll(() => service.stop());

  const ADVICE = /There is no store at the configured place\..*Bring it back/;

  it('answers to the API say that it was not read', () => expectUnread(api, ADVICE));

  it('commands say that there is no store, and begin none', async () => {
    const commands = [
      ['status'],
      ['failures'],
      ['quarantine'],
      ['verify'],
      ['merge'],
      ['replay', 'release', '--dry-run'],
      ['replay', '--job', missing],
      ['erase', 'one', '--yes'],
      ['dismiss', body, '--reason', 'test'],
      ['acknowledge', 'one', '--reason', 'test'],
    ];
    for (const args of commands) await expectNoGoodNews(args, env, ADVICE);
    await expect(access(service.folder)).rejects.toThrow('ENOENT');
  });

  it('a callback gets 503, the log says what to do, and it is stored once the folder is back', async () => {
    const logged = (event: string) => service.log.filter((line) => line.event === event);
    const deliver = () => sendCallback(service, 'id=during&status=success', 'x');
    expect(await deliver()).toMatchObject({ status: 503, json: { code: 'store-unavailable' } });
    await until(() => logged('store-not-writable').length > 0);
    const what = 'is not the store it was: its marker .* Bring the folder back \\(mount its volume\\)$';
    expect(logged('store-not-writable')).toMatchObject([{ msg: expect.stringMatching(what) }]);
    await expect(access(service.folder)).rejects.toThrow('ENOENT');

    await rename(`${service.folder}-away`, service.folder);
    expect((await deliver()).status).toBe(200);
    await until(() => logged('store-writable').length > 0);
  });
});

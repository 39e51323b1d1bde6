import { chmod, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { describeIssue } from '../../src/operations/issues/describe-issue.js';
import type { Verdict } from '../../src/operations/issues/verdict-words.js';
import { SECRET } from '../support/outbox/subscribed.js';
import { type AdminApi, adminApi, sendCallback } from '../support/processes/admin-api.js';
import { type ReceiverProcess, startReady } from '../support/processes/receiver-process.js';
import { runCommand } from '../support/processes/run-command.js';
import { type RunningService, startService } from '../support/processes/running-service.js';
import { UNFIT } from '../support/store/s3-quirks.js';
import {
  type Misbehaviour,
  type RecordedRequest,
  type S3StandIn,
  startS3StandIn,
} from '../support/store/s3-stand-in.js';
import { standInS3 } from '../support/store/stand-in-store.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

/*
 * Everything that a callback needs, taken away one by one: /readyz, the verdict and status name it, and it is over once it is back. The
 * interval of the checks is a tenth of the default one.
 */

const TOKEN = 'a-token-of-the-tests-only';
const CLOCK = fileURLToPath(new URL('../chaos/clock.mjs', import.meta.url));
const TRANSCRIPT = JSON.stringify({ format: '2.9', job: {}, metadata: {}, results: [] });
const OTHER_TRANSCRIPT = JSON.stringify({ format: '2.9', job: {}, metadata: {}, results: [{}] });
/** What the receiver writes beside what callbacks need. */
const WORK_PREFIXES = [
  ...['ledger-hours/', '.erasures/', '.ended/', 'replays/', 'reports/'],
  ...['outbox/', '.outbox-jobs/', '.notices/'],
];
const MINUTES_16 = 16 * 60_000;

interface Place {
  readonly publicUrl: string;
  readonly api: AdminApi;
  /** Environment of commands on the same store. */
  readonly env: Record<string, string>;
}

interface BucketPlace extends Place {
  readonly standIn: S3StandIn;
  stop(): Promise<void>;
}

interface Named {
  /** What `/readyz` says is wrong. */
  readonly cause: string;
  readonly issue: { readonly code: string; readonly params?: Record<string, unknown> };
  /** What `status` says. */
  readonly status: RegExp;
}

let jobs = 0;
const deliver = async ({ publicUrl }: Pick<Place, 'publicUrl'>, source = 'default') => {
  jobs += 1;
  const id = `job-${jobs}`;
  const answer = await sendCallback({ publicUrl }, `id=${id}&status=success`, TRANSCRIPT, JSON_TYPE, source);
  return { ...answer, id };
};
const JSON_TYPE = { 'content-type': 'application/json' };

async function readiness({ publicUrl }: Pick<Place, 'publicUrl'>) {
  const response = await fetch(`${publicUrl}/readyz`);
  const { cause } = (await response.json()) as { cause?: string };
  return { status: response.status, ...(cause !== undefined && { cause }) };
}

interface Issue {
  readonly code: string;
  readonly level: string;
  readonly params: Record<string, unknown>;
}

async function issuesAt({ api }: Place): Promise<Issue[]> {
  return (await api.get('/health')).body.verdict.issues;
}

/** The issues of a kind once there are so many: a receiver that stood still knows nothing for a moment. */
async function issuesOf(place: Place, kind: string, count = 1): Promise<Issue[]> {
  let found: Issue[] = [];
  await until(async () => {
    found = (await issuesAt(place)).filter(({ code }) => code === kind);
    return found.length >= count;
  });
  return found;
}

/** Resolves at once, or with the next check of a receiver that stood still. */
async function expectReady(place: Pick<Place, 'publicUrl'>): Promise<void> {
  await until(async () => (await readiness(place)).status === 200);
}

/** What `status` says is failing. */
async function failingIn({ env }: Place): Promise<string> {
  const { verdict } = JSON.parse((await runCommand(['status', '--json'], env)).stdout) as {
    verdict: Verdict;
  };
  const failing = verdict.issues.filter(({ level }) => level === 'failing');
  return failing.map((issue) => describeIssue(issue).text).join('\n');
}

async function expectNamed(place: Place, { cause, issue, status }: Named): Promise<void> {
  await until(async () => (await readiness(place)).cause === cause);
  expect((await readiness(place)).status).toBe(503);
  // On a busy machine a late canary is an issue of the same code before, with another condition.
  await until(async () =>
    (await issuesAt(place)).some(
      ({ code, level, params }) =>
        code === issue.code &&
        level === 'failing' &&
        Object.entries(issue.params ?? {}).every(([name, value]) => isDeepStrictEqual(params[name], value)),
    ),
  );
  // It reads what the store holds, and tries what may not have been written there.
  await until(async () => status.test(await failingIn(place)), 1000);
}

async function expectOver(place: Place): Promise<void> {
  await expectReady(place);
  const isOurs = ({ code }: { code: string }) => /^(clock|store-|work-|not-ready)/.test(code);
  await until(async () => !(await issuesAt(place)).some(isOurs));
  expect((await deliver(place)).status).toBe(200);
}

describe('before a bucket', () => {
  let place: BucketPlace;

  async function start(deniedFromStart: readonly string[] = []): Promise<BucketPlace> {
    const standIn = await startS3StandIn();
    denyWrites({ standIn }, deniedFromStart);
    const settings = {
      store: {
        url: 's3://bucket/prefix',
        partSize: '5MiB',
        canaryInterval: '1s',
        s3: { ...standInS3(standIn), retries: 0, tags: true },
      },
      limits: { memoryBudget: '32MiB' },
      sources: {
        default: { allowUnauthenticated: true },
        other: { allowUnauthenticated: true, keyPrefix: 'other/' },
      },
      subscribers: { crm: { url: 'http://127.0.0.1:9/', secrets: [SECRET] } },
    };
    const service = await startService(settings);
    return {
      standIn,
      publicUrl: service.publicUrl,
      api: adminApi(service),
      env: { NODE_CONFIG: JSON.stringify(settings) },
      stop: async () => {
        await service.stop();
        await standIn.close();
      },
    };
  }

  /** Commands take the last canary for a proof of the store until it is eleven seconds old. */
  function ageCanaries({ standIn: { state } }: BucketPlace): void {
    for (const [key, object] of state.objects) {
      // The clock may have been set back since.
      const modifiedAt = new Date(Math.min(object.modifiedAt.getTime(), Date.now()) - 11_000);
      if (key.startsWith('prefix/.canary/')) state.objects.set(key, { ...object, modifiedAt });
    }
  }

  async function expectWellAgain(place: BucketPlace): Promise<void> {
    Object.assign(place.standIn, {
      misbehave: () => null,
      ignoreConditions: false,
      clockAheadMs: 0,
      quirk: null,
    });
    await expectOver(place);
  }

  beforeAll(async () => {
    place = await start();
  });
  afterEach(() => expectWellAgain(place));
  afterAll(() => place.stop());

  const denied: Misbehaviour = { kind: 'answer', status: 403, code: 'AccessDenied' };
  function denyWrites({ standIn }: Pick<BucketPlace, 'standIn'>, prefixes: readonly string[]): void {
    standIn.misbehave = ({ operation, key }) =>
      operation === 'PutObject' && prefixes.some((prefix) => key.startsWith(`prefix/${prefix}`))
        ? denied
        : null;
  }

  async function expectReadySoon(): Promise<void> {
    place.standIn.misbehave = () => null;
    const isCanary = ({ operation, key }: { operation: string; key: string }) =>
      operation === 'PutObject' && key.startsWith('prefix/.canary/');
    const before = place.standIn.requests.filter(isCanary).length;
    await expectReady(place);
    // Two writes a check at most, the conditional one included; a failed line is remembered for sixty checks.
    expect(place.standIn.requests.filter(isCanary).length - before).toBeLessThan(40);
  }

  it('names the ledger when it may not be written, and is ready by the first checks after that, without a callback', async () => {
    denyWrites(place, ['ledger/']);
    for (let n = 0; n < 3; n += 1) expect((await deliver(place)).status).toBe(503);
    await expectNamed(place, {
      cause: 'denied',
      issue: { code: 'store-denied', params: { prefix: 'ledger/', condition: 'denied' } },
      status: /below ledger\/ since/,
    });
    await expectReadySoon();
  });

  it('is ready by the first checks after an outage that the store does not explain', async () => {
    place.standIn.misbehave = () => ({ kind: 'answer', status: 500, code: 'InternalError' });
    for (let n = 0; n < 3; n += 1) expect((await deliver(place)).status).toBe(503);
    await until(async () => (await readiness(place)).status === 503);
    await expectReadySoon();
  });

  it('names the prefixes when no source can be stored, and is ready while one can', async () => {
    denyWrites(place, ['jobs/']);
    expect((await deliver(place)).status).toBe(503);
    const [denied] = await issuesOf(place, 'store-denied');
    expect(denied?.params).toMatchObject({ prefix: 'jobs/', sources: ['default'] });
    await expectReady(place);
    expect((await deliver(place, 'other')).status).toBe(200);

    denyWrites(place, ['jobs/', 'other/jobs/']);
    expect((await deliver(place, 'other')).status).toBe(503);
    await expectNamed(place, {
      cause: 'denied',
      issue: { code: 'store-denied', params: { prefix: 'other/jobs/', sources: ['other'] } },
      status: /below jobs\/ since[\s\S]*below other\/jobs\/ since/,
    });
  });

  it.each([
    ['read', ({ operation }: RecordedRequest) => /^(?:Get|Head)Object$/.test(operation)],
    ['written with tags', ({ headers }: RecordedRequest) => headers['x-amz-tagging'] !== undefined],
  ])('names the prefixes of artefacts when they may not be %s', async (_, isDenied) => {
    const { id } = await deliver(place);
    place.standIn.misbehave = (request) =>
      isDenied(request) && request.key.startsWith('prefix/jobs/') ? denied : null;
    // What is there already is compared.
    for (const job of [id, `${id}-new`])
      await sendCallback(place, `id=${job}&status=success`, OTHER_TRANSCRIPT, JSON_TYPE);
    await until(async () => (await issuesAt(place)).some(({ params }) => params.prefix === 'jobs/'));
  });

  it('names the quarantine, which stops no source', async () => {
    denyWrites(place, ['quarantine/']);
    const broken = await sendCallback(place, 'id=broken&status=success', '{"broken', JSON_TYPE);
    expect(broken.status).toBe(503);
    await issuesOf(place, 'store-denied');
    await expectReady(place);
  });

  it('names what no callback needs, and stays ready', async () => {
    const limited = await start(WORK_PREFIXES);
    const named = async (count: number) =>
      (await issuesOf(limited, 'work-denied', count)).map(
        ({ level, params }) => `${level} ${params.prefix} ${params.condition}`,
      );
    const all = WORK_PREFIXES.map((prefix) => `warning ${prefix} denied`);
    expect((await named(all.length)).sort()).toEqual(all.sort());
    await expectReady(limited);
    expect((await deliver(limited)).status).toBe(200);
    limited.standIn.misbehave = () => null;
    await expectOver(limited);
    await until(async () => (await named(0)).length === 0);
    // Denied later, it is named once something could not be written there.
    denyWrites(limited, ['outbox/']);
    expect(await named(1)).toEqual(['warning outbox/ denied']);
    await limited.stop();
  });

  it('names the canaries, without which no receiver is ready', async () => {
    denyWrites(place, ['.canary/']);
    ageCanaries(place);
    await expectNamed(place, {
      cause: 'denied',
      issue: { code: 'store-not-writable' },
      status: /denied/,
    });
  });

  it('names what is asked before a callback is stored', async () => {
    place.standIn.misbehave = ({ operation, key }) =>
      operation === 'GetObject' && key.startsWith('prefix/.erasure-log/') ? denied : null;
    await until(async () => (await deliver(place)).status === 503);
    await expectNamed(place, {
      cause: 'denied',
      issue: { code: 'store-denied', params: { prefix: '.erasure-log/' } },
      status: /below \.erasure-log\/ since/,
    });
  });

  it('names the clock when that of the store is off, and says so to senders', async () => {
    place.standIn.clockAheadMs = MINUTES_16;
    await expectNamed(place, {
      cause: 'clock',
      issue: { code: 'clock' },
      status: /16 minutes behind the store's/,
    });
    expect(await deliver(place)).toMatchObject({ status: 503, json: { code: 'clock' } });
  });

  it('names conditional writes that are kept no longer, and stores nothing meanwhile', async () => {
    place.standIn.ignoreConditions = true;
    await expectNamed(place, {
      cause: 'overwrites',
      issue: { code: 'store-not-writable', params: { condition: 'overwrites' } },
      status: /ignores the condition/,
    });
    expect((await deliver(place)).status).toBe(503);
  });

  it('names a listing that is not in order any more, of which callbacks need nothing', async () => {
    for (let n = 0; n < 5; n += 1) expect((await deliver(place)).status).toBe(200);
    place.standIn.quirk = UNFIT['listings by hash']?.[0] ?? null;
    expect(await issuesOf(place, 'ledger-unreadable')).toContainEqual(
      expect.objectContaining({
        level: 'failing',
        params: expect.objectContaining({ reason: expect.stringContaining('are not in the order of keys') }),
      }),
    );
    expect((await deliver(place)).status).toBe(200);
    place.standIn.quirk = null;
    await until(async () => !(await issuesAt(place)).some(({ code }) => code === 'ledger-unreadable'));
  });
});

describe('before a bucket that is emptied', () => {
  let standIn: S3StandIn;
  let service: RunningService;

  async function start(id: string | null) {
    const s3 = { ...standInS3(standIn), retries: 0 };
    const store = { url: 's3://bucket', partSize: '5MiB', canaryInterval: '1s', id, s3 };
    service = await startService({
      store,
      limits: { memoryBudget: '32MiB' },
      sources: { default: { allowUnauthenticated: true } },
    });
    const env = { NODE_CONFIG: JSON.stringify({ store }) };
    return { publicUrl: service.publicUrl, api: adminApi(service), env };
  }

  beforeEach(async () => {
    standIn = await startS3StandIn();
  });
  afterEach(async () => {
    await service.stop();
    await standIn.close();
  });

  it('says that it is another one, and stores on', async () => {
    const place = await start(null);
    expect((await deliver(place)).status).toBe(200);
    const issue = async () => (await issuesAt(place)).find(({ code }) => code === 'store-replaced');
    expect(await issue()).toBeUndefined();
    const marker = standIn.state.objects.get('.store/marker.json');
    standIn.state.objects.clear();
    expect(await issuesOf(place, 'store-replaced')).toMatchObject([
      { level: 'warning', params: { is: null } },
    ]);
    expect((await deliver(place)).status).toBe(200);
    const { stdout } = await runCommand(['status'], place.env);
    expect(stdout).toMatch(/another store than before: it has lost its marker/);
    if (marker !== undefined) standIn.state.objects.set('.store/marker.json', marker);
    await until(async () => (await issue()) === undefined);
  });

  it('stores nothing where store.id pins the former one', async () => {
    const marker = Buffer.from('{"store":"the-one"}');
    standIn.state.put('.store/marker.json', marker, {}, marker.length);
    const place = await start('the-one');
    expect((await deliver(place)).status).toBe(200);
    standIn.state.objects.clear();
    await until(async () => (await readiness(place)).cause === 'missing');
    expect((await deliver(place)).status).toBe(503);
    expect([...standIn.state.objects.keys()].filter((key) => key.startsWith('jobs/'))).toEqual([]);
    const [issue] = await issuesOf(place, 'store-not-writable');
    expect(issue?.params).toMatchObject({
      condition: 'missing',
      reason: expect.stringMatching(/store\.id is/),
    });
  });
});

describe('before a folder', () => {
  const stops: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  async function folderOfItsOwn() {
    const folder = await temporaryFolder();
    stops.push(folder.remove);
    return {
      folder: folder.path,
      at: (name: string) => join(folder.path, 'store', name),
      settings: {
        store: { url: `file:${folder.path}/store`, canaryInterval: '1s' },
        admin: { tokens: { operator: TOKEN } },
        sources: { default: { allowUnauthenticated: true } },
      },
    };
  }

  type Folder = Awaited<ReturnType<typeof folderOfItsOwn>>;

  async function placeOf(
    { settings }: Folder,
    { publicUrl, adminUrl }: Pick<ReceiverProcess, 'publicUrl' | 'adminUrl'>,
  ): Promise<Place> {
    const api = adminApi({ adminUrl, adminToken: TOKEN });
    const place = { publicUrl, api, env: { NODE_CONFIG: JSON.stringify(settings) } };
    expect((await deliver(place)).status).toBe(200);
    // The sign-in is a ledger line, which would make the folder anew that a test takes away.
    await issuesAt(place);
    return place;
  }

  let own: Folder;
  let place: Place;
  beforeAll(async () => {
    own = await folderOfItsOwn();
    const service = await startService(own.settings);
    stops.push(service.stop);
    place = await placeOf(own, service);
  });

  async function startBinary(...how: Parameters<typeof startReady>): Promise<ReceiverProcess> {
    const receiver = await startReady(...how);
    stops.push(receiver.destroy);
    return receiver;
  }

  it("names the ledger's folder when it is away", async () => {
    const { folder, at } = own;
    await rename(at('ledger'), `${folder}/away`);
    await expectNamed(place, {
      cause: 'missing',
      issue: { code: 'store-denied', params: { prefix: 'ledger/', condition: 'missing' } },
      status: /ledger is gone, and objects were in it/,
    });
    await rename(`${folder}/away`, at('ledger'));
    await expectOver(place);
  });

  it('names folders that the process may not use', async () => {
    const modes = await folderOfItsOwn();
    const { at } = modes;
    const place = await placeOf(modes, await startBinary(modes.settings, {}, { obeysModes: true }));
    for (const name of ['jobs', 'ledger']) await chmod(at(name), 0);
    await until(async () => (await readiness(place)).cause === 'denied');
    // The two are tried one after the other.
    const denied = await issuesOf(place, 'store-denied', 2);
    expect(denied.map(({ params }) => params.prefix).sort()).toEqual(['jobs/', 'ledger/']);
    for (const name of ['jobs', 'ledger']) await chmod(at(name), 0o700);
    await expectOver(place);
  });

  it('names the replica whose clock is off, to all others too', async () => {
    const { folder, settings } = own;
    const clock = join(folder, 'clock');
    const wrong = await startBinary(
      { ...settings, replicaName: 'late' },
      { CHAOS_CLOCK: clock },
      { nodeFlags: ['--import', CLOCK] },
    );
    await writeFile(clock, String(MINUTES_16));
    await until(async () => (await readiness(wrong)).cause === 'clock');
    expect(await deliver(wrong)).toMatchObject({ status: 503, json: { code: 'clock' } });
    const [issue] = await issuesOf(place, 'clock');
    expect(issue).toMatchObject({ level: 'failing', params: { replica: 'late' } });
    await expectReady(place);
    expect((await runCommand(['status'], place.env)).stdout).toMatch(/clock of late is 16 minutes ahead/);
    await writeFile(clock, '0');
    await expectReady(wrong);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import supertest from 'supertest';
import { startProcess, startReady } from '../support/processes/receiver-process.js';
import { type RunningService, startListening } from '../support/processes/running-service.js';
import { type FaultProxy, type ProxyFault, startFaultProxy } from '../support/store/fault-proxy.js';
import { type S3StandIn, startS3StandIn } from '../support/store/s3-stand-in.js';
import { until } from '../support/until.js';

/* What a sender and a balancer see while the store fails: 503, never 2xx and never 4xx. */

const TRANSCRIPT = JSON.stringify({ format: '2.9', job: {}, metadata: {}, results: [] });

interface Place {
  readonly server: S3StandIn;
  readonly proxy: FaultProxy;
  /** Settings of a receiver before this bucket, `s3` laid over those of `store.s3`. */
  settings(s3?: Record<string, unknown>): Record<string, unknown>;
  /** A receiver in this process, which listens. */
  start(s3?: Record<string, unknown>): Promise<RunningService>;
  close(): Promise<void>;
}

const places: Place[] = [];
afterAll(() => Promise.all(places.map((place) => place.close())));

/** A bucket behind a proxy, for one receiver; all are closed after the tests. */
async function openPlace(): Promise<Place> {
  const server = await startS3StandIn();
  const proxy = await startFaultProxy(server.endpoint);
  let receiver: RunningService | null = null;
  const settings = (s3 = {}) => settingsBefore(proxy, s3);
  const place: Place = {
    server,
    proxy,
    settings,
    async start(s3) {
      receiver = await startListening(settings(s3));
      return receiver;
    },
    async close() {
      proxy.fault = () => null;
      await receiver?.stop();
      await proxy.close();
      await server.close();
    },
  };
  places.push(place);
  return place;
}

function settingsBefore(proxy: FaultProxy, s3: Record<string, unknown>): Record<string, unknown> {
  return {
    store: {
      url: 's3://bucket/prefix',
      partSize: '5MiB',
      canaryInterval: '1s',
      s3: {
        endpoint: proxy.url,
        region: 'us-east-1',
        forcePathStyle: true,
        accessKeyId: 'test',
        secretAccessKey: 'test-secret',
        retries: 1,
        ...s3,
      },
    },
    limits: { memoryBudget: '32MiB' },
    sources: { default: { allowUnauthenticated: true } },
  };
}

function deliver(url: string, id: string, body: string | Buffer = TRANSCRIPT, type = 'application/json') {
  return supertest(url).post(`/callbacks/default?id=${id}&status=success`).type(type).send(body);
}

function keysStored({ server }: Place, jobId: string): string[] {
  return [...server.state.objects.keys()].filter((key) => key.includes(`/jobs/${jobId}/`));
}

async function isReady(url: string): Promise<void> {
  await until(async () => (await supertest(url).get('/readyz')).ok);
}

async function expectRefusedUntilWell(at: Place, url: string, jobId: string, fault: ProxyFault | 'refuse') {
  if (fault === 'refuse') await at.proxy.refuse();
  else at.proxy.fault = () => fault;
  const refused = await deliver(url, jobId);
  expect(refused.status).toBe(503);
  expect(refused.headers['retry-after']).toMatch(/^\d+$/);
  expect(refused.body).toMatchObject({ code: 'store-unavailable' });
  expect(refused.text).not.toContain(at.proxy.url);
  expect(keysStored(at, jobId)).toEqual([]);

  if (fault === 'refuse') await at.proxy.accept();
  at.proxy.fault = () => null;
  // A canary may have found the store as it was.
  await isReady(url);
  const taken = await deliver(url, jobId);
  expect(taken.body).toMatchObject({ outcome: 'stored' });
  expect(keysStored(at, jobId)).toEqual([`prefix/jobs/${jobId}/transcript.json`]);
}

describe('an unavailable store', () => {
  let place: Place;
  let proxy: FaultProxy;
  let publicUrl: string;
  let readContent: (path: string) => supertest.Test;

  beforeAll(async () => {
    place = await openPlace();
    ({ proxy } = place);
    const { adminUrl, adminToken, ...service } = await place.start();
    ({ publicUrl } = service);
    readContent = (path) =>
      supertest(adminUrl).get(`/admin/api/${path}`).auth(adminToken, { type: 'bearer' });
  });

  /** A store that is well so far: what goes wrong later does not find it unproven. */
  beforeEach(async () => {
    proxy.fault = () => null;
    await isReady(publicUrl);
  });

  it.each([
    ['refuses connections', 'refuse'],
    ['answers 500', { kind: 'answer', status: 500 }],
    ['answers 403', { kind: 'answer', status: 403, code: 'AccessDenied' }],
    ['resets', { kind: 'reset' }],
    ['is hidden by a page with status 200', { kind: 'page' }],
  ] as const)('that %s is a 503 with Retry-After, and a stored delivery once it is well', (name, fault) =>
    expectRefusedUntilWell(place, publicUrl, name.replaceAll(' ', '-'), fault),
  );

  it('that loses responses is retried, and the delivery is acknowledged correctly', async () => {
    let lost = 0;
    proxy.fault = ({ method, url }) => {
      if (method !== 'PUT' || !url.includes('/jobs/') || lost > 0) return null;
      lost += 1;
      return { kind: 'loseAnswer' };
    };
    const taken = await deliver(publicUrl, 'job1');
    expect(taken.status).toBe(200);
    expect(taken.body).toMatchObject({ outcome: 'stored', items: [{ outcome: 'created' }] });
    expect(lost).toBe(1);
  });

  it('passes its Retry-After on to the sender', async () => {
    proxy.fault = () => ({ kind: 'answer', status: 503, code: 'SlowDown', headers: { 'retry-after': '77' } });
    const refused = await deliver(publicUrl, 'job1');
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('77');
  });

  it.each([
    ['before', { kind: 'reset' }],
    ['within', { kind: 'cutAnswer', bytes: 100_000 }],
  ] as const)(
    'that breaks off %s the read of a repetition is a 503, and the repetition a duplicate later',
    async (when, fault) => {
      const large = JSON.stringify({ format: '2.9', job: {}, metadata: {}, results: ['x'.repeat(300_000)] });
      const jobId = `compared-${when}`;
      expect((await deliver(publicUrl, jobId, large)).status).toBe(200);
      proxy.fault = ({ method, url }) => (method === 'GET' && url.includes('/jobs/') ? fault : null);
      const refused = await deliver(publicUrl, jobId, large);
      expect(refused.status).toBe(503);
      expect(refused.body).toMatchObject({ code: 'store-unavailable' });
      proxy.fault = () => null;
      expect((await deliver(publicUrl, jobId, large)).body).toMatchObject({ outcome: 'duplicate' });
    },
  );

  it('that has moved artefacts to an archive takes a repetition as a duplicate and other bytes as a conflict, by the hash they were stored with', async () => {
    const media = Buffer.alloc(6 * 1024 * 1024, 'm');
    const deliverMedia = async () => (await deliver(publicUrl, 'cold-media', media, 'audio/wav')).body;
    expect((await deliver(publicUrl, 'cold')).status).toBe(200);
    expect(await deliverMedia()).toMatchObject({ outcome: 'stored' });
    proxy.fault = ({ method, url }) =>
      method === 'GET' && /(?<!\.conflicts)\/jobs\/cold[^?]*\/(transcript|data)/.test(url)
        ? { kind: 'answer', status: 403, code: 'InvalidObjectState' }
        : null;
    expect((await deliver(publicUrl, 'cold')).body).toMatchObject({ outcome: 'duplicate' });
    expect((await deliver(publicUrl, 'cold', `${TRANSCRIPT} `)).body).toMatchObject({ outcome: 'conflict' });
    // Streamed before its hash was known.
    expect(await deliverMedia()).toMatchObject({ outcome: 'conflict' });
    expect(await deliverMedia()).toMatchObject({ outcome: 'duplicate' });
    const read = await readContent('jobs/cold/artefacts/transcript.json');
    expect(read.body).toMatchObject({
      status: 503,
      detail: expect.stringContaining('restore it there first'),
    });
  });

  it('that stores artefacts but no ledger line causes a 503, because an unrecorded delivery is not accepted', async () => {
    proxy.fault = ({ url }) => (url.includes('/ledger/') ? { kind: 'answer', status: 500 } : null);
    expect((await deliver(publicUrl, 'job3')).status).toBe(503);
    proxy.fault = () => null;
    expect((await deliver(publicUrl, 'job3')).body).toMatchObject({ outcome: 'duplicate' });
  });

  it('that cannot keep a broken body is a 503, not a 202', async () => {
    proxy.fault = ({ url }) => (url.includes('/quarantine/') ? { kind: 'answer', status: 500 } : null);
    expect((await deliver(publicUrl, 'job4', '{"broken')).status).toBe(503);
  });
});

/** Their waits are Node's and the receiver's own, of ten seconds and more: all at the same time, each before a bucket of its own. */
describe('an unavailable store before a receiver of its own', () => {
  /** Longer than a test may take, so that a wait for the store fails the test. */
  const PATIENT = { requestTimeout: '10m', retries: 4 };

  it.concurrent('that hangs is a 503 with Retry-After, and a stored delivery once it is well', async () => {
    // As long as the others may take to begin: a busy machine can take a store for one that hangs.
    const place = await openPlace();
    const { publicUrl } = await place.start({ requestTimeout: '15s', retries: 0 });
    await isReady(publicUrl);
    await expectRefusedUntilWell(place, publicUrl, 'hangs', { kind: 'hang' });
  });

  it.concurrent.each([
    ['refuses connections', 'refuse'],
    ['hangs', { kind: 'hang' }],
  ] as const)(
    'that %s at the start finds the replica alive and waiting, and ready once it heals',
    async (_, fault) => {
      const { proxy, start } = await openPlace();
      if (fault === 'refuse') await proxy.refuse();
      else proxy.fault = () => fault;
      const { publicUrl, log } = await start(PATIENT);
      const events = () => log.map(({ event }) => event).filter((event) => /ready/.test(String(event)));
      expect(events()).not.toContain('ready');
      await supertest(publicUrl).get('/healthz').expect(200);
      // The port is public: the reason is shown on the admin port only.
      await supertest(publicUrl).get('/readyz').expect(503, { status: 'not ready' });
      const refused = await deliver(publicUrl, 'job1');
      expect(refused.status).toBe(503);
      expect(refused.headers['retry-after']).toMatch(/^\d+$/);

      proxy.fault = () => null;
      // What hung is reset, as by a server that restarts.
      if (fault !== 'refuse') await proxy.refuse();
      await proxy.accept();
      await until(async () => (await supertest(publicUrl).get('/readyz')).status === 200);
      await until(() => events().at(-1) === 'ready');
      expect((await deliver(publicUrl, 'job1')).status).toBe(200);
    },
  );

  it.concurrent('that is no bucket at the start is named once with what to do, without stacks', async () => {
    const { proxy, start } = await openPlace();
    let beginnings = 0;
    let listings = 0;
    proxy.fault = ({ method, url }) => {
      if (url.includes('.store/marker.json')) beginnings += 1;
      if (method === 'GET' && url.includes('replays')) listings += 1;
      return { kind: 'answer', status: 404, code: 'NoSuchBucket' };
    };
    const { log } = await start();
    const named = ['store-failed', 'store-probe', 'sweep-failed'];
    await until(
      () => beginnings > 2 && listings > 0 && named.every((name) => log.some(({ event }) => event === name)),
    );
    const failures = log.filter(({ level }) => level === 'error');
    expect(failures.map(({ event }) => event).sort()).toEqual(named);
    for (const failure of failures) {
      expect(failure).toMatchObject({
        condition: 'missing',
        remedy: expect.stringMatching(/^Bring it back/),
      });
      expect(failure.err).toBeUndefined();
    }
  });

  it.concurrent('that hangs at the start does not hold up the end of the process', async () => {
    const { proxy, settings } = await openPlace();
    proxy.fault = () => ({ kind: 'hang' });
    const { signal, ended } = await startProcess({ receiver: { drainDelay: 0 }, ...settings(PATIENT) });
    signal('SIGTERM');
    expect(await ended).toBe(0);
  });

  it.concurrent('that hangs at the end is named in the log, with what was abandoned for it', async () => {
    const { proxy, settings } = await openPlace();
    const receiver = { drainDelay: 0, drainDeadline: '300ms' };
    const { publicUrl, log, signal, ended } = await startReady({ receiver, ...settings(PATIENT) });
    let hanging = 0;
    proxy.fault = ({ url }) => {
      if (!url.includes('/jobs/abandoned/')) return null;
      hanging += 1;
      return { kind: 'hang' };
    };
    const delivering = deliver(publicUrl, 'abandoned').catch(() => null);
    await until(() => hanging > 0);
    signal('SIGTERM');
    expect(await ended).toBe(0);
    await delivering;
    expect(log.map(({ event }) => event)).toContain('store-hangs');
  });
});

describe('a store that ignores conditional writes', () => {
  it('is named and refused at the start', async () => {
    const { server, settings } = await openPlace();
    server.ignoreConditions = true;
    // Whether it listened for a moment depends on how fast this machine is.
    const started = await startProcess(settings()).catch((error: Error) => error);
    if (!(started instanceof Error)) expect(await started.ended).toBe(1);
    const said = started instanceof Error ? started.message : started.output.join('\n');
    expect(said).toMatch(/does not keep first-write-wins.*conditionalWrites: emulated/s);
  });
});

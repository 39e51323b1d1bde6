import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { encodeTime } from 'ulid';
import { type AdminApi, adminApi } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { quarantinedRequest } from '../../support/quarantined-request.js';
import { type S3StandIn, startS3StandIn } from '../../support/store/s3-stand-in.js';
import { until } from '../../support/until.js';

const BODIES = 1500;
const NOW = Date.now();
const PART = 5 * 1024 * 1024;

let standIn: S3StandIn;
let service: RunningService;
let api: AdminApi;
const idOf = (n: number) => `${encodeTime(NOW - (BODIES - n) * 60_000, 10)}0000000000000000`;

function isListing({ operation, query }: S3StandIn['requests'][number]): boolean {
  return operation === 'ListObjects' && query.get('prefix') === 'prefix/quarantine/';
}
const listings = () => standIn.requests.filter(isListing).length;
const reads = () =>
  standIn.requests.filter(({ operation, key }) => operation === 'GetObject' && /quarantine\//.test(key))
    .length;

beforeAll(async () => {
  standIn = await startS3StandIn();
  service = await startService({
    store: {
      url: 's3://bucket/prefix',
      partSize: PART,
      s3: {
        ...{ endpoint: standIn.endpoint, region: 'us-east-1', forcePathStyle: true },
        ...{ accessKeyId: 'a', secretAccessKey: 'b', retries: 0, requestTimeout: '60s' },
      },
    },
    limits: { memoryBudget: 4 * PART, quarantineBytes: '128KiB' },
    sources: { default: { allowUnauthenticated: true } },
  });
  api = adminApi(service);
  for (let n = 0; n < BODIES; n += 1) {
    const deliveryId = idOf(n);
    const request = { v: 1, ...quarantinedRequest({ deliveryId, jobId: `job${n}` }), bytes: 1, sha256: '' };
    standIn.state.put(`prefix/quarantine/${deliveryId}/body`, Buffer.from('{'), {});
    standIn.state.put(
      `prefix/quarantine/${deliveryId}/request.json`,
      Buffer.from(JSON.stringify(request)),
      {},
    );
  }
});
beforeEach(() => {
  standIn.misbehave = () => null;
  standIn.requests.length = 0;
});
afterAll(async () => {
  standIn.misbehave = () => null;
  await service.stop();
  await standIn.close();
});

/** Resolves when the service has noticed that its clients are gone, and given up what it read for them. */
async function leaveAll(clients: readonly ReturnType<typeof ask>[]): Promise<void> {
  for (const { leave } of clients) leave();
  await Promise.allSettled(clients.map(({ answer }) => answer));
  await until(() => standIn.hanging === 0);
  standIn.misbehave = () => null;
}

function ask(path: string) {
  const leaving = new AbortController();
  const answer = fetch(`${service.adminUrl}/admin/api${path}`, {
    headers: { authorization: `Bearer ${service.adminToken}` },
    signal: leaving.signal,
  });
  return { answer, leave: () => leaving.abort() };
}

describe('a page of a large quarantine', () => {
  it('is the newest bodies, page by page, without a listing of all', async () => {
    const first = (await api.get('/quarantine?limit=50').expect(200)).body;
    expect(first.quarantine.map(({ jobId }: { jobId: string }) => jobId)).toEqual(
      Array.from({ length: 50 }, (_, n) => `job${BODIES - 1 - n}`),
    );
    expect(listings()).toBeLessThanOrEqual(4);
    expect(reads()).toBeLessThanOrEqual(64);
    const second = (await api.get(`/quarantine?limit=50&cursor=${first.nextCursor}`).expect(200)).body;
    expect(second.quarantine[0].jobId).toBe(`job${BODIES - 51}`);
    const oldest = Buffer.from(idOf(2)).toString('base64url');
    const last = (await api.get(`/quarantine?limit=50&cursor=${oldest}`).expect(200)).body;
    expect(last.quarantine.map(({ jobId }: { jobId: string }) => jobId)).toEqual(['job1', 'job0']);
    expect(last.nextCursor).toBeNull();
  });

  it('is read once for twenty clients that ask the same', async () => {
    standIn.misbehave = (request) => (isListing(request) ? { kind: 'hang' } : null);
    const clients = Array.from({ length: 20 }, () => ask('/quarantine?limit=50'));
    const other = ask('/quarantine?limit=40');
    await until(() => listings() === 2);
    await api.get('/subscribers').expect(200);
    expect(listings()).toBe(2);
    await leaveAll([...clients, other]);
    await api.get('/quarantine?limit=50').expect(200);
  });

  it('is read no further when its clients have disconnected', async () => {
    await api.get('/quarantine?limit=50').expect(200);
    const own = listings();
    standIn.misbehave = (request) => (isListing(request) ? { kind: 'hang' } : null);
    const clients = Array.from({ length: 3 }, () => ask('/quarantine?limit=50'));
    await until(() => listings() === own + 1);
    await leaveAll(clients);
    standIn.requests.length = 0;
    // The next question has an answer of its own, and the one that was ended makes no call beside it.
    await api.get('/quarantine?limit=50').expect(200);
    expect(listings()).toBeLessThanOrEqual(own);
    expect(reads()).toBeLessThanOrEqual(64);
  });

  it('is one of eight reads at once; a ninth is told when to come again', async () => {
    standIn.misbehave = (request) => (isListing(request) ? { kind: 'hang' } : null);
    const reading = Array.from({ length: 8 }, (_, n) => ask(`/quarantine?limit=${n + 1}`));
    await until(() => listings() === 8);
    const refused = await ask('/quarantine?limit=9').answer;
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.json()).toMatchObject({
      code: 'overloaded',
      detail: expect.stringMatching(/^8 reads/),
    });
    expect(listings()).toBe(8);
    // The page's light waits behind none of them; what it cannot know it calls unknown.
    const { quarantine, verdict } = (await api.get('/health').expect(200)).body;
    expect([quarantine, verdict.level]).toEqual([null, expect.any(String)]);
    await api.get('/names').expect(200);
    await leaveAll(reading);
    await api.get('/quarantine?limit=9').expect(200);
  });
});

describe('the health summary beside a store whose listings hang', () => {
  it('says that the quarantine is unknown, and ends the listing with its deadline', async () => {
    let hanging = 0;
    standIn.misbehave = (request) => {
      if (!isListing(request)) return null;
      hanging += 1;
      return { kind: 'hang' };
    };
    const { quarantine, unknown } = (await api.get('/health').expect(200)).body;
    expect(quarantine).toBeNull();
    expect(unknown.quarantine.reason).toBe('the store did not answer within 3000 ms');
    // It would hang for a minute: one that counts anew has the listing before behind it.
    standIn.misbehave = () => null;
    await until(async () => (await api.get('/health').expect(200)).body.quarantine?.waiting === BODIES);
    expect(hanging).toBe(1);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { describeIssue } from '../../../src/health/describe-issue.js';
import { remedyOf } from '../../../src/store/store-remedies.js';
import { type AdminApi, adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { type ReceiverProcess, startProcess } from '../../support/processes/receiver-process.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { type Misbehaviour, type S3StandIn, startS3StandIn } from '../../support/store/s3-stand-in.js';
import { until } from '../../support/until.js';

/* What is shown of a store that fails: what could not be read is unknown, and never none. */

const PART = 5 * 1024 * 1024;
const FROM_STORE = ['failing', 'last24h', 'quarantine', 'reconcile', 'verify', 'subscribers'] as const;
const SUBSCRIBER = {
  url: 'http://127.0.0.1:9/events',
  secrets: [`whsec_${Buffer.from('a secret of some 24 bytes').toString('base64')}`],
};

let standIn: S3StandIn;

const settings = () => ({
  store: {
    url: 's3://bucket/prefix',
    partSize: PART,
    canaryInterval: '1s',
    s3: {
      endpoint: standIn.endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      accessKeyId: 'a',
      secretAccessKey: 'b',
      retries: 0,
      requestTimeout: '1s',
    },
  },
  limits: { memoryBudget: 4 * PART, quarantineBytes: '128KiB' },
  sources: { default: { allowUnauthenticated: true } },
  subscribers: { crm: SUBSCRIBER },
  recovery: { interval: 'off' },
});

beforeAll(async () => {
  standIn = await startS3StandIn();
});
afterAll(() => standIn.close());

const answer = (status: number, code: string): Misbehaviour => ({ kind: 'answer', status, code });

describe('the health of a running receiver', () => {
  let service: RunningService;
  let api: AdminApi;

  beforeAll(async () => {
    service = await startService(settings());
    api = adminApi(service);
    await sendCallback(service, 'id=one&status=success', 'x', { 'content-type': 'text/plain' });
    await until(async () => (await api.get('/health')).body.last24h?.lines === 1);
  });
  afterAll(async () => {
    standIn.misbehave = () => null;
    await service.stop();
  });

  const health = async () => (await api.get('/health')).body;

  it.each<[string, Misbehaviour, RegExp, RegExp | null]>([
    ['is away', { kind: 'reset' }, /ECONNRESET/, /Check that the store runs/],
    ['refuses', answer(403, 'AccessDenied'), /access denied/, /permissions/],
    ['has no bucket', answer(404, 'NoSuchBucket'), /bucket does not exist/, /Create the bucket/],
    ['hangs', { kind: 'hang' }, /did not answer/, null],
  ])('knows nothing of a store that %s, and says why', async (_, fault, reason, remedy) => {
    standIn.misbehave = () => fault;
    await until(async () => {
      const { store, unknown } = await health();
      const reasons = [store.reason, ...FROM_STORE.map((name) => unknown[name]?.reason)];
      return reasons.every((each) => reason.test(each));
    });
    const seen = await health();
    for (const name of FROM_STORE) expect([name, seen[name]]).toEqual([name, null]);
    expect(seen.unknown.failing).toMatchObject({
      reason: expect.stringMatching(/^the ledger cannot be read: /),
      since: expect.stringMatching(/^20/),
    });
    expect(seen.verdict.level).toBe('failing');
    const codes = seen.verdict.issues.map(({ code }: { code: string }) => code);
    expect(codes.filter((code: string) => code.startsWith('reconcile-'))).toEqual([]);
    expect(seen.verdict).toMatchObject({ complete: false, unseen: expect.arrayContaining(['quarantine']) });
    if (remedy !== null) expect(remedyOf(seen.store.condition)).toMatch(remedy);
  });

  it('knows everything when the store is back', async () => {
    standIn.misbehave = () => null;
    await until(async () => Object.keys((await health()).unknown).length === 0);
    const well = await health();
    expect(well).toMatchObject({ failing: {}, last24h: { lines: 1 }, quarantine: { waiting: 0 } });
    // Neither has run: that is known.
    expect(well).toMatchObject({ reconcile: null, verify: null, subscribers: [{ name: 'crm' }] });
  });

  it.each<[string, Misbehaviour, RegExp]>([
    ['full', answer(507, 'XMinioStorageFull'), /Free space/],
    ['over its quota', answer(403, 'QuotaExceeded'), /Raise the quota/],
    ['read-only', answer(403, 'AccessDenied'), /permissions/],
  ])('knows what is in a store that is %s, and says at once what to do', async (_, fault, remedy) => {
    await until(async () => (await health()).store.writable);
    standIn.misbehave = ({ operation }) =>
      ['PutObject', 'CreateMultipartUpload'].includes(operation) ? fault : null;
    await until(async () => !(await health()).store.writable);
    const seen = await health();
    expect(seen).toMatchObject({ unknown: {}, failing: {}, last24h: { lines: 1 } });
    expect(remedyOf(seen.store.condition)).toMatch(remedy);
    const [issue] = seen.verdict.issues;
    expect(issue).toMatchObject({ topic: 'store', code: 'store-not-writable' });
    expect(describeIssue(issue).remedy).toMatch(remedy);
    standIn.misbehave = () => null;
  });
});

describe('the health of a receiver that has never read its store', () => {
  let receiver: ReceiverProcess;

  beforeAll(async () => {
    standIn.misbehave = () => ({ kind: 'reset' });
    receiver = await startProcess({
      ...settings(),
      admin: { port: 0, tokens: { tester: { token: 'a-token-of-the-tests-only', may: ['view'] } } },
    });
  });
  afterAll(async () => {
    standIn.misbehave = () => null;
    await receiver.destroy();
  });

  it('has no figure of the store, and metrics leave them out', async () => {
    const api = adminApi({ adminUrl: receiver.adminUrl, adminToken: 'a-token-of-the-tests-only' });
    const { body } = await api.get('/health');
    for (const name of FROM_STORE) expect([name, body[name]]).toEqual([name, null]);
    expect(Object.keys(body.unknown)).toEqual(expect.arrayContaining([...FROM_STORE]));
    expect(body.verdict.level).toBe('failing');
    expect(body.verdict.since).toBeNull();
    const metrics = await (await fetch(`${receiver.adminUrl}/metrics`)).text();
    expect(metrics).not.toMatch(
      /^transcript_receiver_(verify_|ledger_broken|ledger_newer|recovery_oldest)\S* /m,
    );
  });
});

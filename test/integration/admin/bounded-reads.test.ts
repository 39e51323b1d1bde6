import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { encodeTime } from 'ulid';
import { encodeIdCursor } from '../../../src/lib/text/id-cursor.js';
import type { DeadEvent } from '../../../src/subscribers/dead/dead-event.js';
import { deadEventOf, SECRET } from '../../support/outbox/subscribed.js';
import { type AdminApi, adminApi } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { type S3StandIn, startS3StandIn } from '../../support/store/s3-stand-in.js';
import { standInS3 } from '../../support/store/stand-in-store.js';
import { until } from '../../support/until.js';

const EVENTS = 150;
const NOW = Date.now();
const PART = 5 * 1024 * 1024;

let standIn: S3StandIn;
let service: RunningService;
let api: AdminApi;
const idOf = (n: number) => `${encodeTime(NOW - (EVENTS - n) * 60_000, 10)}0000000000000000`;

/** That of a page behind a cursor: counts list the folder as well. */
function isListing({ operation, query }: S3StandIn['requests'][number]): boolean {
  return (
    operation === 'ListObjects' &&
    query.get('prefix') === 'prefix/outbox/crm/dead/' &&
    query.has('start-after')
  );
}
const listings = () => standIn.requests.filter(isListing).length;
const reads = () =>
  standIn.requests.filter(
    ({ operation, key }) => operation === 'GetObject' && /outbox\/crm\/dead\//.test(key),
  ).length;

beforeAll(async () => {
  standIn = await startS3StandIn();
  service = await startService({
    store: {
      url: 's3://bucket/prefix',
      partSize: PART,
      s3: { ...standInS3(standIn), retries: 0, requestTimeout: '60s' },
    },
    limits: { memoryBudget: 4 * PART, quarantineBytes: '128KiB' },
    sources: { default: { allowUnauthenticated: true } },
    subscribers: { crm: { url: 'http://127.0.0.1:1', secrets: [SECRET], events: ['health.opened'] } },
  });
  api = adminApi(service);
  for (let n = 0; n < EVENTS; n += 1) {
    const { event, ...dead } = deadEventOf(`job-${n}`);
    const kept = { ...dead, event: { ...event, id: idOf(n) } };
    standIn.state.put(`prefix/outbox/crm/dead/${idOf(n)}.json`, Buffer.from(JSON.stringify(kept)), {});
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

/** Four groups of sixteen, and an event for its cause. */
const MOST_READS = 65;
const DEAD = '/subscribers/crm/dead';
const behind = (n: number, limit: number) =>
  `${DEAD}?limit=${limit}&cursor=${encodeIdCursor('dead', idOf(n))}`;
const later = (limit: number) => behind(EVENTS / 2, limit);
const numbersOf = ({ deadEvents }: { readonly deadEvents: readonly DeadEvent[] }) =>
  deadEvents.map(({ event }) => Number(event.data.jobId.replace('job-', '')));

describe('a page of many dead events', () => {
  it('is the oldest, page by page, without a listing of all', async () => {
    const first = (await api.get(`${DEAD}?limit=50`).expect(200)).body;
    expect(numbersOf(first)).toEqual(Array.from({ length: 50 }, (_, n) => n));
    standIn.requests.length = 0;
    const second = (await api.get(`${DEAD}?limit=50&cursor=${first.nextCursor}`).expect(200)).body;
    expect(numbersOf(second)[0]).toBe(50);
    expect(listings()).toBe(1);
    expect(reads()).toBeLessThanOrEqual(MOST_READS);
    const last = (await api.get(behind(EVENTS - 3, 50)).expect(200)).body;
    expect(numbersOf(last)).toEqual([EVENTS - 2, EVENTS - 1]);
    expect(last.nextCursor).toBeNull();
  });

  it('is one of eight reads at once; a ninth is told when to come again', async () => {
    standIn.misbehave = (request) => (isListing(request) ? { kind: 'hang' } : null);
    const reading = Array.from({ length: 8 }, (_, n) => ask(later(n + 1)));
    await until(() => listings() === 8);
    const refused = await ask(later(9)).answer;
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.json()).toMatchObject({
      code: 'overloaded',
      detail: expect.stringMatching(/^8 reads/),
    });
    expect(listings()).toBe(8);
    // The page's light waits behind none of them.
    await api.get('/health').expect(200);
    await api.get('/names').expect(200);
    await leaveAll(reading);
    await api.get(later(9)).expect(200);
  });
});

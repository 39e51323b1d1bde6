import { describe, expect, it } from '@jest/globals';
import { createQuarantine } from '../../../../src/archive/quarantine/quarantine.js';
import { createQuarantineStore } from '../../../../src/archive/quarantine/quarantine-store.js';
import { markQuarantined, quarantinedBodies } from '../../../../src/archive/quarantine/quarantined-bodies.js';
import { settleBodies } from '../../../../src/archive/quarantine/settle-bodies.js';
import { createBodyCheck } from '../../../../src/operations/actions/body-check.js';
import { createTrialDecoder } from '../../../../src/operations/actions/decode-quarantined.js';
import { listQuarantine } from '../../../../src/operations/admin/jobs/list-quarantine.js';
import { quarantinedRequest } from '../../../support/quarantined-request.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const [FIRST, SECOND] = ['01K0000000000000000000000A', '01K1000000000000000000000B'];
const RECORD = {
  v: 1,
  deliveryId: FIRST,
  releasedAt: '2026-01-02T03:04:05.678Z',
  actor: 'ops',
  reason: null,
  outcome: 'stored',
  items: [],
} as const;

const OWNER = { jobId: 'a', source: 'intake' };

const requestOf = (deliveryId: string, jobId: string) => quarantinedRequest({ deliveryId, jobId });

async function all<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const entry of entries) found.push(entry);
  return found;
}

/** Keeps a body of a job with its request and its entry in the index, as the quarantine does. */
async function keep(store: ReturnType<typeof createMemoryStore>, id: string, jobId: string, body = 'body') {
  const headers = { contentType: 'application/json', metadata: { 'job-id': jobId } };
  await markQuarantined(store, jobId, id);
  await store.create(`quarantine/${id}/body`, Buffer.from(body), headers);
  await store.create(
    `quarantine/${id}/request.json`,
    Buffer.from(JSON.stringify(requestOf(id, jobId))),
    headers,
  );
}

describe('the quarantine of all replicas', () => {
  it('lists bodies newest first with their size and state, and leaves out what was never acknowledged', async () => {
    const store = createMemoryStore();
    await keep(store, FIRST, 'a', 'four');
    await keep(store, SECOND, 'b', 'seven!!');
    store.put('quarantine/01K2000000000000000000000C/body', 'no request');
    store.put('quarantine/not-an-id/request.json', '{}');
    store.put(`quarantine/${SECOND}/notes.txt`, 'not ours');
    const quarantine = createQuarantineStore(store);
    await quarantine.markReleased(FIRST, OWNER, RECORD);
    expect(await all(quarantine.newest())).toEqual([
      { id: SECOND, bytes: 7, state: 'waiting' },
      { id: FIRST, bytes: 4, state: 'released' },
    ]);
  });

  it.each([
    ['is cut off', () => '{"v":'],
    ['has no query', (whole: string) => JSON.stringify({ ...JSON.parse(whole), query: '' })],
    ['is of another job', (whole: string) => JSON.stringify({ ...JSON.parse(whole), jobId: 'b' })],
  ])(
    'knows whose a body is when its request %s, so that it can be settled but not decoded',
    async (_, damage) => {
      const store = createMemoryStore();
      const request = requestOf(FIRST, 'a');
      await createQuarantine(store).keep(request, Buffer.from('{}'));
      const key = `quarantine/${FIRST}/request.json`;
      const whole = store.objects.get(key)?.body.toString() ?? '';
      await store.replace(key, Buffer.from(damage(whole)), { contentType: 'application/json', metadata: {} });
      const sources = new Map([[request.source, { contents: ['data'], keyPrefix: '', maxBytes: 100 }]]);
      const quarantine = createQuarantineStore(store, createBodyCheck(store, sources));
      expect(await all(quarantine.newest())).toEqual([{ id: FIRST, bytes: 2, state: 'waiting' }]);
      const known = await quarantine.request(FIRST);
      expect(known).toMatchObject({
        jobId: 'a',
        source: request.source,
        reason: 'request-damaged',
        bytes: 2,
      });
      if (known === null) throw new Error('the body is not known');
      const decode = createTrialDecoder(sources);
      expect(await decode(known, Buffer.from('{}'))).toMatchObject({ ok: false, reason: 'request-damaged' });
      const settledAt = new Date().toISOString();
      const mark = {
        v: 1,
        settledAt,
        by: 'acknowledged',
        deliveryId: null,
        actor: 'ops',
        reason: 'x',
      } as const;
      await settleBodies(store, 'a', mark);
      expect(await quarantine.stateOf(FIRST)).toBe('settled');
    },
  );

  it('reads request and body of an id, and returns null for an unknown or invalid one', async () => {
    const store = createMemoryStore();
    await keep(store, FIRST, 'a');
    store.put('quarantine/../secret/body', 'elsewhere');
    const quarantine = createQuarantineStore(store);
    expect(await quarantine.request(FIRST)).toEqual(requestOf(FIRST, 'a'));
    expect(await quarantine.bodyInfo(FIRST)).toMatchObject({ size: 4 });
    expect(await quarantine.withBody(FIRST, async (body) => body?.toString())).toBe('body');
    for (const id of [SECOND, '../secret', '']) {
      expect(await quarantine.request(id)).toBeNull();
      expect(await quarantine.bodyInfo(id)).toBeNull();
      expect(await quarantine.release(id)).toBeNull();
      expect(await quarantine.withBody(id, async (body) => body)).toBeNull();
    }
  });

  it.each(['{', '[]', '{"deliveryId":5}', JSON.stringify(requestOf(SECOND, 'a'))])(
    'knows no request by a document that is none: %s',
    async (text) => {
      const store = createMemoryStore();
      store.put(`quarantine/${FIRST}/request.json`, text);
      expect(await createQuarantineStore(store).request(FIRST)).toBeNull();
    },
  );

  it('holds one body at a time', async () => {
    const store = createMemoryStore();
    await keep(store, FIRST, 'a');
    const quarantine = createQuarantineStore(store);
    let held = 0;
    const most = await Promise.all(
      Array.from({ length: 5 }, () =>
        quarantine.withBody(FIRST, async () => {
          held += 1;
          await new Promise((resolve) => setImmediate(resolve));
          const now = held;
          held -= 1;
          return now;
        }),
      ),
    );
    expect(most).toEqual([1, 1, 1, 1, 1]);
  });

  it('keeps the first mark of a release until it is taken back', async () => {
    const store = createMemoryStore();
    await keep(store, FIRST, 'a');
    const quarantine = createQuarantineStore(store);
    expect(await quarantine.markReleased(FIRST, OWNER, RECORD)).toEqual(RECORD);
    expect(await quarantine.markReleased(FIRST, OWNER, { ...RECORD, actor: 'late' })).toEqual(RECORD);
    expect(await quarantine.release(FIRST)).toEqual(RECORD);
    expect((await store.head(`quarantine/${FIRST}/released.json`))?.metadata).toEqual({ 'job-id': 'a' });
    const { content } = store.objects.get(`quarantine/${FIRST}/released.json`)?.headers ?? {};
    expect(content).toEqual({ kind: 'quarantine', source: 'intake' });
    await quarantine.unmarkReleased(FIRST);
    expect(await quarantine.release(FIRST)).toBeNull();
  });
});

describe('a settled body', () => {
  const MARK = {
    v: 1,
    settledAt: '2026-01-02T03:04:05.678Z',
    by: 'acknowledged',
    deliveryId: SECOND,
    actor: 'ops',
    reason: 'seen',
  } as const;

  it('keeps the first mark, and is listed as settled unless it was released', async () => {
    const store = createMemoryStore();
    await keep(store, FIRST, 'a');
    const quarantine = createQuarantineStore(store);
    expect(await quarantine.stateOf(FIRST)).toBe('waiting');
    expect(await quarantine.markSettled(FIRST, OWNER, MARK)).toEqual(MARK);
    expect(await quarantine.markSettled(FIRST, OWNER, { ...MARK, actor: 'late' })).toEqual(MARK);
    expect(await quarantine.settlement(FIRST)).toEqual(MARK);
    expect(await all(quarantine.newest())).toEqual([{ id: FIRST, bytes: 4, state: 'settled' }]);
    expect(await all(quarantine.newestOf('a'))).toEqual(await all(quarantine.newest()));
    await quarantine.markReleased(FIRST, OWNER, RECORD);
    expect(await all(quarantine.newest())).toEqual([{ id: FIRST, bytes: 4, state: 'released' }]);
    expect(await quarantine.stateOf(FIRST)).toBe('released');
  });

  it('whose job was stored stays settled when the artefacts have ended, once that is recorded', async () => {
    const store = createMemoryStore();
    for (const [id, job] of [
      [FIRST, 'a'],
      [SECOND, 'b'],
    ] as const)
      await keep(store, id, job);
    const archived = new Set(['a']);
    const quarantine = () => createQuarantineStore(store, async ({ jobId }) => archived.has(jobId));
    const states = async () => {
      const { quarantine: bodies } = await listQuarantine(quarantine(), { state: 'all' });
      return bodies.map(({ deliveryId, state }) => [deliveryId, state]);
    };
    const settled = [
      [SECOND, 'waiting'],
      [FIRST, 'settled'],
    ];
    expect(await quarantine().count()).toEqual({ waiting: 1, waitingBytes: 4, released: 0, settled: 1 });
    expect(await states()).toEqual(settled);
    expect(await quarantine().stateOf(FIRST)).toBe('settled');
    expect(store.objects.has(`quarantine/${FIRST}/settled.json`)).toBe(false);
    await quarantine().markStored();
    archived.clear();
    expect(await states()).toEqual(settled);
    expect(await quarantine().settlement(FIRST)).toMatchObject({ by: 'stored', actor: null });
  });

  it('is not marked for a job that was erased meanwhile', async () => {
    const store = createMemoryStore();
    await keep(store, FIRST, 'a');
    store.put('.erasures/a.json', '{}');
    expect(await createQuarantineStore(store).markSettled(FIRST, OWNER, MARK)).toBeNull();
    expect([...store.objects.keys()]).toEqual(['.erasures/a.json']);
  });
});

describe('the quarantined bodies of a job', () => {
  it('are found by what lies in each folder, oldest first, with all that lies beside them', async () => {
    const store = createMemoryStore();
    await keep(store, SECOND, 'a', 'seven!!');
    await keep(store, FIRST, 'a');
    await keep(store, '01K2000000000000000000000C', 'b');
    const headers = { contentType: 'application/json', metadata: { 'job-id': 'a' } };
    await markQuarantined(store, 'a', 'odd');
    await store.create('quarantine/odd/released.json', Buffer.from('{}'), headers);
    const bodies = await quarantinedBodies(store, 'a');
    expect(bodies.map(({ keys, bytes }) => [keys, bytes])).toEqual([
      [[`quarantine/${FIRST}/body`, `quarantine/${FIRST}/request.json`], 4],
      [[`quarantine/${SECOND}/body`, `quarantine/${SECOND}/request.json`], 7],
      [['quarantine/odd/released.json'], 0],
    ]);
    expect(bodies.map(({ receivedAt }) => receivedAt?.slice(0, 4) ?? null)).toEqual(['2025', '2025', null]);
    expect(await quarantinedBodies(store, 'c')).toEqual([]);
  });

  it('are listed for the job alone', async () => {
    const store = createMemoryStore();
    await keep(store, FIRST, 'a', 'four');
    await keep(store, SECOND, 'a', 'seven!!');
    await keep(store, '01K2000000000000000000000C', 'b');
    const quarantine = createQuarantineStore(store);
    await quarantine.markReleased(FIRST, OWNER, RECORD);
    expect(await all(quarantine.newestOf('a'))).toEqual([
      { id: SECOND, bytes: 7, state: 'waiting' },
      { id: FIRST, bytes: 4, state: 'released' },
    ]);
  });
});

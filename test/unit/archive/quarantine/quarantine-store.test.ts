import { describe, expect, it } from '@jest/globals';
import { createQuarantine } from '../../../../src/archive/quarantine/quarantine.js';
import { createQuarantineStore } from '../../../../src/archive/quarantine/quarantine-store.js';
import { markQuarantined, quarantinedBodies } from '../../../../src/archive/quarantine/quarantined-bodies.js';
import { createTrialDecoder } from '../../../../src/operations/actions/decode-quarantined.js';
import { quarantinedRequest } from '../../../support/quarantined-request.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const FIRST = '01K0000000000000000000000A';
const SECOND = '01K1000000000000000000000B';
const requestOf = (deliveryId: string, jobId: string) => quarantinedRequest({ deliveryId, jobId });

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
  it.each([
    ['is cut off', () => '{"v":'],
    ['has no query', (whole: string) => JSON.stringify({ ...JSON.parse(whole), query: '' })],
    ['is of another job', (whole: string) => JSON.stringify({ ...JSON.parse(whole), jobId: 'b' })],
  ])('knows whose a body is when its request %s, but cannot decode it', async (_, damage) => {
    const store = createMemoryStore();
    const request = requestOf(FIRST, 'a');
    await createQuarantine(store).keep(request, Buffer.from('{}'));
    const key = `quarantine/${FIRST}/request.json`;
    const whole = store.objects.get(key)?.body.toString() ?? '';
    await store.replace(key, Buffer.from(damage(whole)), { contentType: 'application/json', metadata: {} });
    const sources = new Map([
      [request.source, { contents: ['data'], context: [], maxBytes: 100, keyPrefix: '' }],
    ]);
    const quarantine = createQuarantineStore(store);
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
  });

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
});

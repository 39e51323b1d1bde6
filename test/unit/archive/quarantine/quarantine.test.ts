import { describe, expect, it } from '@jest/globals';
import { createQuarantine } from '../../../../src/archive/quarantine/quarantine.js';
import { removeErasedBody } from '../../../../src/archive/quarantine/quarantined-bodies.js';
import { StoreError } from '../../../../src/store/object-store.js';
import { quarantinedRequest } from '../../../support/quarantined-request.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const REQUEST = quarantinedRequest({ deliveryId: '01TEST00000000000000000000' });

const MARKER = `.quarantine-jobs/job1/${REQUEST.deliveryId}`;

describe('the quarantine', () => {
  it('writes request.json only after the body is stored', async () => {
    const store = createMemoryStore((operation, key) => {
      if (key.endsWith('/body')) throw new StoreError(operation, 'EIO');
    });
    await expect(createQuarantine(store).keep(REQUEST, Buffer.from('{'))).rejects.toThrow('EIO');
    expect([...store.objects.keys()]).toEqual([MARKER]);
  });

  it('begins with request.json when the body has been written', async () => {
    let endBody = (): void => {};
    const store = createMemoryStore((_operation, key) =>
      key.endsWith('/body') ? new Promise((resolve) => (endBody = resolve)) : undefined,
    );
    const keeping = createQuarantine(store).keep(REQUEST, Buffer.from('{'));
    await new Promise((resolve) => setImmediate(resolve));
    const body = `quarantine/${REQUEST.deliveryId}/body`;
    expect(store.calls.map(({ key }) => key)).toEqual([MARKER, body]);
    endBody();
    await keeping;
    const request = `quarantine/${REQUEST.deliveryId}/request.json`;
    expect(store.calls.map(({ key }) => key)).toEqual([MARKER, body, request, MARKER]);
  });

  it('says of body and request what they are, and of the body its hash', async () => {
    const store = createMemoryStore();
    const kept = await createQuarantine(store).keep(REQUEST, Buffer.from('{'));
    const sha256 = '021fb596db81e6d02bf3d2586ee3981fe519f275c0ac9ca76bbcf2ebb4097d96';
    expect(kept).toEqual({ v: 1, ...REQUEST, bytes: 1, sha256 });
    const metadata = { 'job-id': 'job1', 'delivery-id': REQUEST.deliveryId, source: 'default' };
    const content = { kind: 'quarantine', source: 'default' };
    const folder = `quarantine/${REQUEST.deliveryId}/`;
    expect(store.objects.get(`${folder}body`)?.headers).toEqual({
      contentType: 'application/octet-stream',
      metadata: { ...metadata, sha256 },
      content,
    });
    const request = store.objects.get(`${folder}request.json`);
    expect(request?.headers).toEqual({ contentType: 'application/json', metadata, content });
    expect(JSON.parse(String(request?.body))).toEqual(kept);
  });

  it.each([
    ['is removed with the body', null, []],
    ['stays while the body cannot be removed', { reason: 'retention', until: null } as const, [MARKER]],
  ])('has an index whose entry %s, so that a repeated erasure finds it', async (_, kept, left) => {
    const store = createMemoryStore();
    await createQuarantine(store).keep(REQUEST, Buffer.from('{'));
    const { purge } = store;
    store.purge = async function* (folder) {
      for await (const purged of purge.call(store, folder))
        yield purged.key.endsWith('/body') ? { ...purged, kept } : purged;
    };
    await removeErasedBody(store, REQUEST.deliveryId, 'job1');
    expect([...store.objects.keys()]).toEqual(left);
  });

  it('treats an existing body as its own only when the bytes are equal', async () => {
    const store = createMemoryStore();
    const key = `quarantine/${REQUEST.deliveryId}/body`;
    store.put(key, '{');
    await expect(createQuarantine(store).keep(REQUEST, Buffer.from('['))).rejects.toThrow(
      /holds other bytes/,
    );
    expect(store.objects.size).toBe(2);
    await createQuarantine(store).keep(REQUEST, Buffer.from('{'));
    expect(store.objects.size).toBe(3);
  });
});

import { describe, expect, it } from '@jest/globals';
import { createQuarantine } from '../../../src/archive/quarantine.js';
import { StoreError } from '../../../src/store/object-store.js';
import { createMemoryStore } from '../../support/memory-store.js';

const REQUEST = {
  deliveryId: '01TEST00000000000000000000',
  receivedAt: '2026-01-02T03:04:05.678Z',
  source: 'default',
  region: null,
  clientIp: null,
  method: 'POST',
  jobId: 'job1',
  status: 'success',
  query: '',
  headers: {},
  reason: 'json-invalid',
  detail: '',
};

describe('the quarantine', () => {
  it('promises a body in request.json only when it lies in the store', async () => {
    const store = createMemoryStore((operation, key) => {
      if (key.endsWith('/body')) throw new StoreError(operation, 'EIO');
    });
    await expect(createQuarantine(store).keep(REQUEST, Buffer.from('{'))).rejects.toThrow('EIO');
    expect([...store.objects.keys()]).toEqual([]);
  });

  it('begins with request.json when the body has been written', async () => {
    let endBody = (): void => {};
    const store = createMemoryStore((_operation, key) =>
      key.endsWith('/body') ? new Promise((resolve) => (endBody = resolve)) : undefined,
    );
    const keeping = createQuarantine(store).keep(REQUEST, Buffer.from('{'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(store.calls.map(({ key }) => key)).toEqual([`quarantine/${REQUEST.deliveryId}/body`]);
    endBody();
    await keeping;
    expect(store.calls).toHaveLength(2);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { measureStore } from '../../../src/store/measure-store.js';
import { type ObjectHeaders, type ObjectStore, StoreError } from '../../../src/store/object-store.js';
import { openStandInStore, type StandInStore } from '../../support/store/stand-in-store.js';

const HEADERS: ObjectHeaders = { contentType: 'text/plain', metadata: {} };

describe('a measured store', () => {
  let under: StandInStore;
  let store: ObjectStore;
  let calls: string[];

  beforeEach(async () => {
    under = await openStandInStore({ retries: 0, requestTimeoutMs: 300 });
    calls = [];
    store = measureStore(under.store, (operation, result, durationMs) => {
      expect(durationMs).toBeGreaterThanOrEqual(0);
      calls.push(`${operation} ${result}`);
    });
  });
  afterEach(() => under.close());

  it('reports every operation with its result', async () => {
    await store.create('a/b', Buffer.from('x'), HEADERS);
    await store.create('a/b', Buffer.from('x'), HEADERS);
    await store.replace('a/c', Buffer.from('x'), HEADERS);
    await store.head('a/b');
    await store.head('a/none');
    (await store.read('a/b'))?.body.destroy();
    await store.read('a/none');
    for await (const _ of store.list(''));
    for await (const _ of store.folders('')) break;
    await store.delete('a/b');
    await store.sweepUploads(new Date(0));
    expect(calls).toEqual([
      'create ok',
      'create exists',
      'replace ok',
      'head ok',
      'head absent',
      'read ok',
      'read absent',
      'list ok',
      'folders ok',
      'delete ok',
      'sweepUploads ok',
    ]);
  });

  it('reports the parts, completion and abort of uploads', async () => {
    const first = await store.startUpload('a', HEADERS);
    await first.write(Buffer.from('x'));
    await first.complete();
    const second = await store.startUpload('a', HEADERS);
    await second.complete();
    await second.abort();
    expect(calls).toEqual([
      'startUpload ok',
      'writePart ok',
      'complete ok',
      'startUpload ok',
      'complete exists',
      'abort ok',
    ]);
  });

  it('reports errors and time-outs, and passes them on', async () => {
    under.standIn.misbehave = () => ({ kind: 'answer', status: 403, code: 'AccessDenied' });
    await expect(store.create('a', Buffer.from('x'), HEADERS)).rejects.toThrow(StoreError);
    const listing = store.list('')[Symbol.asyncIterator]();
    await expect(listing.next()).rejects.toThrow(StoreError);
    under.standIn.misbehave = () => ({ kind: 'hang' });
    await expect(store.create('a', Buffer.from('x'), HEADERS)).rejects.toThrow(StoreError);
    await expect(store.head('a')).rejects.toThrow(StoreError);
    expect(calls).toEqual(['create error', 'list error', 'create timeout', 'head timeout']);
  });
});

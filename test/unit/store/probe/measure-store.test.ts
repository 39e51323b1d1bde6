import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ObjectHeaders, type ObjectStore, StoreError } from '../../../../src/store/object-store.js';
import { measureStore } from '../../../../src/store/probe/measure-store.js';
import type { S3Settings } from '../../../../src/store/s3/s3-options.js';
import { openStandInStore, type StandInStore } from '../../../support/store/stand-in-store.js';

const HEADERS: ObjectHeaders = { contentType: 'text/plain', metadata: {} };

describe('a measured store', () => {
  let under: StandInStore;
  let store: ObjectStore;
  let calls: string[];

  beforeEach(async () => {
    await open({ retries: 0 });
  });
  afterEach(() => under.close());

  async function open(settings: S3Settings) {
    under = await openStandInStore(settings);
    calls = [];
    store = measureStore(under.store, [
      (operation, result, durationMs) => {
        expect(durationMs).toBeGreaterThanOrEqual(0);
        calls.push(`${operation} ${result}`);
      },
    ]);
  }

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
    for await (const _ of store.purge('a/c'));
    for await (const _ of store.traces('a/'));
    await store.abortUploads('a/');
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
      'purge ok',
      'traces ok',
      'abortUploads ok',
      'sweepUploads ok',
    ]);
    expect(under.standIn.state.objects.size).toBe(0);
  });

  it('does what the store does, and can do no more than it can', async () => {
    await store.create('a/b', Buffer.from('x'), HEADERS);
    const upload = await store.startUpload('a/u', HEADERS);
    await upload.write(Buffer.from('part'));
    await upload.complete();
    await (await store.startUpload('a/aborted', HEADERS)).abort();
    const found = await Array.fromAsync(store.list(''), ({ key, size }) => `${key} ${size}`);
    for await (const key of store.traces('a/')) found.push(key);
    expect(found).toEqual(['a/b 1', 'a/u 4', 'a/b', 'a/u']);
    expect(under.standIn.state.uploads.size).toBe(0);
    expect(store.expire).toBeUndefined();
    expect(store.tags).toBeUndefined();
  });

  it('has all that the store has, and reports all but what makes no call, and what asks what store it is', () => {
    const measured = Object.entries(store);
    expect(measured.map(([name]) => name).sort()).toEqual(Object.keys(under.store).sort());
    const asItIs = measured.filter(([name, value]) => value === under.store[name as keyof ObjectStore]);
    expect(asItIs.map(([name]) => name).sort()).toEqual(
      ['begin', 'clockOffset', 'close', 'identity', 'location', 'partSize', 'traits'].sort(),
    );
  });

  it('reports tags and expiry of the stores that have them', async () => {
    const found = { key: 'a', size: 1, modifiedAt: new Date(0) };
    const ends = ['removed', 'missing', 'replaced'] as const;
    let removed = 0;
    const store = measureStore(
      {
        ...under.store,
        tags: async (key) => (key === 'a' ? { kind: 'data' } : null),
        expire: async () => ends[removed++] ?? 'removed',
      },
      [(operation, result) => calls.push(`${operation} ${result}`)],
    );
    expect(await store.tags?.('a')).toEqual({ kind: 'data' });
    expect(await store.tags?.('b')).toBeNull();
    for (const end of ends) expect(await store.expire?.(found)).toBe(end);
    expect(calls).toEqual(['tags ok', 'tags absent', 'expire ok', 'expire absent', 'expire ok']);
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
    expect(calls).toEqual(['create error', 'list error']);
    await under.close();
    await open({ retries: 0, requestTimeoutMs: 300 });
    under.standIn.misbehave = () => ({ kind: 'hang' });
    await expect(store.create('a', Buffer.from('x'), HEADERS)).rejects.toThrow(StoreError);
    await expect(store.head('a')).rejects.toThrow(StoreError);
    expect(calls).toEqual(['create timeout', 'head timeout']);
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import { readLifecycle } from '../../../../src/store/s3/bucket/bucket-lifecycle.js';
import { openStandInStore, type StandInStore } from '../../../support/store/stand-in-store.js';

const OWNER = '012345678901';
const HEADERS = { contentType: 'text/plain', metadata: {}, content: { kind: 'data', source: 'intake' } };

describe('an S3 store that expects an owner of its bucket', () => {
  let under: StandInStore;
  afterEach(() => under.close());

  it('names the owner in every request, signed', async () => {
    under = await openStandInStore({ expectedBucketOwner: OWNER, tags: true, conditionalWrites: 'emulated' });
    const { store, standIn } = under;
    await store.create('a/1', Buffer.from('1'), HEADERS);
    await store.replace('a/2', Buffer.from('2'), HEADERS);
    const upload = await store.startUpload('a/3', HEADERS);
    await upload.write(Buffer.from('3'));
    await upload.complete();
    await (await store.startUpload('a/4', HEADERS)).abort();
    (await store.read('a/1'))?.body.resume();
    await store.head('a/1');
    await store.tags?.('a/1');
    for await (const _ of store.list('')) break;
    for await (const _ of store.folders('')) break;
    for await (const _ of store.traces('a/')) break;
    await store.delete('a/1');
    for await (const _ of store.purge('a/'));
    await store.sweepUploads(new Date());
    await store.traits?.();
    const { endpoint } = standIn;
    const settings = { endpoint, expectedBucketOwner: OWNER, forcePathStyle: true };
    const keys = { accessKeyId: 'AKIATEST', secretAccessKey: 'very-secret-key' };
    await readLifecycle({ bucket: 'bucket', prefix: '', settings: { ...settings, ...keys } });
    expect(new Set(standIn.requests.map(({ operation }) => operation)).size).toBe(16);
    for (const { operation, headers } of standIn.requests) {
      expect([operation, headers['x-amz-expected-bucket-owner']]).toEqual([operation, OWNER]);
      expect(headers.authorization).toMatch(/SignedHeaders=[^,]*;x-amz-expected-bucket-owner[;,]/);
    }
  });

  it('says in a refusal that the bucket may be of another account', async () => {
    under = await openStandInStore({ expectedBucketOwner: OWNER });
    under.standIn.misbehave = () => ({ kind: 'answer', status: 403, code: 'AccessDenied' });
    const refused =
      /access denied \(403 AccessDenied.*not of account 012345678901 \(store\.s3\.expectedBucketOwner\)\)/;
    const { store } = under;
    await expect(store.create('a', Buffer.from('1'), HEADERS)).rejects.toThrow(refused);
    await expect(store.read('a')).rejects.toThrow(refused);
    await expect(store.list('')[Symbol.asyncIterator]().next()).rejects.toThrow(refused);
    await expect(store.startUpload('a', HEADERS)).rejects.toThrow(refused);
  });

  it('sends no such header without one', async () => {
    under = await openStandInStore({});
    await under.store.create('a', Buffer.from('1'), HEADERS);
    await under.store.head('a');
    for (const { headers } of under.standIn.requests)
      expect(headers['x-amz-expected-bucket-owner']).toBeUndefined();
  });
});

import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readBack } from '../../../../src/archive/read-back.js';
import { StoreError } from '../../../../src/store/object-store.js';
import type { Misbehaviour } from '../../../support/store/s3-stand-in.js';
import { openStandInStore, PREFIX, type StandInStore } from '../../../support/store/stand-in-store.js';

describe('reading from S3', () => {
  let under: StandInStore;

  beforeEach(async () => {
    under = await openStandInStore({ retries: 1 });
    under.standIn.state.put(`${PREFIX}a/object`, Buffer.alloc(100_000, 'x'), {});
  });
  afterEach(() => under.close());

  const answer = (status: number, code: string) => (): Misbehaviour => ({ kind: 'answer', status, code });

  const listed = async () => (await Array.fromAsync(under.store.list(''))).map(({ key }) => key);

  it('ends in a StoreError when the connection is cut', async () => {
    under.standIn.misbehave = () => ({ kind: 'cut' });
    const reading = await under.store.read('a/object');
    await expect(reading && buffer(reading.body)).rejects.toThrow(StoreError);
  });

  it('keeps an error that occurs before the reader attaches', async () => {
    under.standIn.state.put(`${PREFIX}large`, Buffer.alloc(24 * 1024 * 1024), {});
    const reading = await under.store.read('large');
    await under.standIn.close();
    await expect(reading && buffer(reading.body)).rejects.toThrow(StoreError);
  });

  it('reads back as a StoreError when the connection is cut', async () => {
    under.standIn.misbehave = () => ({ kind: 'cut' });
    await expect(readBack(under.store, 'a/object')).rejects.toThrow(StoreError);
  });

  it('treats a missing bucket as an error, not as an absence', async () => {
    under.standIn.misbehave = answer(404, 'NoSuchBucket');
    await expect(under.store.read('a/none')).rejects.toThrow(/the bucket does not exist/);
    await expect(listed()).rejects.toThrow(/the bucket does not exist/);
  });

  it('takes an object that was missing for deleted, also where the server says so', async () => {
    under.standIn.misbehave = answer(404, 'NoSuchKey');
    await under.store.delete('a/none');
    under.standIn.misbehave = answer(404, 'NoSuchBucket');
    await expect(under.store.delete('a/none')).rejects.toThrow(/the bucket does not exist/);
  });

  it.each([
    [403, 'AccessDenied'],
    [500, 'InternalError'],
  ])('treats %s as an error, not as an absence', async (status, code) => {
    under.standIn.misbehave = answer(status, code);
    await expect(under.store.head('a/object')).rejects.toThrow(StoreError);
    await expect(under.store.read('a/object')).rejects.toThrow(StoreError);
    await expect(under.store.delete('a/object')).rejects.toThrow(StoreError);
    await expect(listed()).rejects.toThrow(StoreError);
    await expect(under.store.sweepUploads(new Date())).rejects.toThrow(StoreError);
  });

  it('ends a listing whose second page fails with an error, never early', async () => {
    for (let n = 0; n < 1_500; n += 1) under.standIn.state.put(`${PREFIX}many/${n}`, Buffer.from('x'), {});
    under.standIn.misbehave = ({ query }) =>
      query.has('continuation-token') ? answer(500, 'InternalError')() : null;
    await expect(listed()).rejects.toThrow(StoreError);
  });

  it.each<[string, string, () => Promise<unknown>]>([
    ['objects', 'ListBucketResult', () => listed()],
    ['versions', 'ListVersionsResult', () => Array.fromAsync(under.store.purge('jobs/j1/'))],
    ['uploads', 'ListMultipartUploadsResult', () => under.store.sweepUploads(new Date())],
  ])('ends a listing of %s that is cut off and names no next page with an error', async (_, root, list) => {
    under.standIn.misbehave = ({ operation }) =>
      operation.startsWith('List')
        ? { kind: 'xml', body: `<?xml version="1.0"?><${root}><IsTruncated>true</IsTruncated></${root}>` }
        : null;
    await expect(list()).rejects.toThrow(/truncated/);
    expect(under.standIn.requests).toHaveLength(1);
  });

  it('leaves out objects that are not valid keys of the store', async () => {
    under.standIn.state.put(`${PREFIX}a/`, Buffer.from(''), {});
    under.standIn.state.put(`${PREFIX}.hidden`, Buffer.from(''), {});
    under.standIn.state.put('some/prefix-of-others/x', Buffer.from(''), {});
    expect(await listed()).toEqual(['a/object']);
  });

  it('keeps its connection after a head', async () => {
    for (let n = 0; n < 6; n += 1) expect((await under.store.head('a/object'))?.size).toBe(100_000);
    // The pool may open a second one before the first is free again.
    expect(under.standIn.connections).toBeLessThanOrEqual(2);
  });

  it('describes an object with the MD5 of its bytes, unless its ETag is something else', async () => {
    const { state } = under.standIn;
    const object = state.put(`${PREFIX}whole`, Buffer.from('whole'), {});
    expect(await under.store.head('whole')).toMatchObject({ md5: '356c9ee60e9da05301adc3bd96f6b383' });
    state.objects.set(`${PREFIX}whole`, { ...object, etag: '"356c9ee60e9da05301adc3bd96f6b383-2"' });
    expect(await under.store.head('whole')).not.toHaveProperty('md5');
  });
});

import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ObjectHeaders, type PendingUpload, StoreError } from '../../../../src/store/object-store.js';
import type { Misbehaviour } from '../../../support/store/s3-stand-in.js';
import { openStandInStore, PREFIX, type StandInStore } from '../../../support/store/stand-in-store.js';
import { until } from '../../../support/until.js';

const HEADERS: ObjectHeaders = { contentType: 'audio/wav', metadata: { 'delivery-id': 'd1' } };
const KEY = 'jobs/j1/data';
/** Bytes of a part. The stand-in takes less than S3 does. */
const PART = 1000;

describe('an S3 upload in parts', () => {
  let under: StandInStore;

  beforeEach(async () => {
    under = await openStandInStore({ retries: 2 });
  });
  afterEach(() => under.close());

  /** `faults` for the first, second… request of the operation; the last one stays. */
  function misbehaveOn(name: string, ...faults: (Misbehaviour | null)[]): void {
    under.standIn.misbehave = ({ operation, attempt }) =>
      operation === name ? (faults[Math.min(attempt, faults.length) - 1] ?? null) : null;
  }

  async function written(): Promise<PendingUpload> {
    const upload = await under.store.startUpload(KEY, HEADERS);
    await Promise.all([upload.write(Buffer.alloc(PART, 'a')), upload.write(Buffer.from('end'))]);
    return upload;
  }

  const object = () => under.standIn.state.objects.get(PREFIX + KEY);
  const requests = (name: string) => under.standIn.requests.filter(({ operation }) => operation === name);
  const error = (status: number, code: string, done = false): Misbehaviour => ({
    kind: 'answer',
    status,
    code,
    done,
  });

  it('fails a part that cannot be sent, completes nothing, and leaves nothing', async () => {
    misbehaveOn('UploadPart', error(500, 'InternalError'));
    const upload = await under.store.startUpload(KEY, HEADERS);
    await expect(upload.write(Buffer.from('x'))).rejects.toThrow(StoreError);
    await expect(upload.complete()).rejects.toThrow(StoreError);
    expect(object()).toBeUndefined();
    expect(under.standIn.state.uploads.size).toBe(0);
  });

  it('completes on the condition that nothing lies there, and removes its parts otherwise', async () => {
    const upload = await written();
    under.standIn.state.put(PREFIX + KEY, Buffer.from('earlier'), {});
    expect(await upload.complete()).toBe('exists');
    expect(requests('CompleteUpload')[0]?.headers['if-none-match']).toBe('*');
    expect(object()?.body.toString()).toBe('earlier');
    expect(under.standIn.state.uploads.size).toBe(0);
  });

  it.each<[string, Misbehaviour, Misbehaviour | null]>([
    // Its repetition meets NoSuchUpload.
    ['500', error(500, 'InternalError', true), null],
    ['500 each time', error(500, 'InternalError', true), error(500, 'InternalError')],
    ['a reset', { kind: 'reset', done: true }, null],
    ['an error inside a 200', { kind: 'error200', code: 'InternalError', done: true }, null],
  ])('finds its object after a completion that was done but answered with %s', async (_, fault, next) => {
    const upload = await written();
    misbehaveOn('CompleteUpload', fault, next);
    expect(await upload.complete()).toBe('exists');
    expect(object()?.body.length).toBe(PART + 3);
  });

  it('finds its object after silence, for which it waits as long as for a part', async () => {
    await under.close();
    under = await openStandInStore({ retries: 2, requestTimeoutMs: 1_000, partTimeoutMs: 3_000 });
    const upload = await written();
    misbehaveOn('CompleteUpload', { kind: 'hang', done: true }, null);
    const begun = performance.now();
    expect(await upload.complete()).toBe('exists');
    expect(performance.now() - begun).toBeGreaterThanOrEqual(3_000);
    expect(object()?.body.length).toBe(PART + 3);
  });

  it.each<[string, Misbehaviour]>([
    ['500', error(500, 'InternalError')],
    ['an error inside a 200', { kind: 'error200', code: 'InternalError' }],
    ['a reset', { kind: 'reset' }],
    ['409', error(409, 'ConditionalRequestConflict')],
    ['NoSuchUpload', error(404, 'NoSuchUpload')],
    ['403', error(403, 'AccessDenied')],
  ])('fails when completing answers %s and nothing lies there', async (_, fault) => {
    const upload = await written();
    misbehaveOn('CompleteUpload', fault);
    await expect(upload.complete()).rejects.toThrow(StoreError);
    expect(object()).toBeUndefined();
    expect(under.standIn.state.uploads.size).toBe(0);
  });

  it('is not completed again after a 409: the sender has to send it again', async () => {
    const upload = await written();
    misbehaveOn('CompleteUpload', error(409, 'ConditionalRequestConflict'));
    await expect(upload.complete()).rejects.toThrow(StoreError);
    expect(requests('CompleteUpload')).toHaveLength(1);
  });

  it('is aborted without waiting for parts that the store does not take', async () => {
    misbehaveOn('UploadPart', { kind: 'hang' });
    const upload = await under.store.startUpload(KEY, HEADERS);
    const writing = upload.write(Buffer.from('x')).catch((reason: unknown) => reason);
    await until(() => requests('UploadPart').length === 1);
    await upload.abort();
    expect(await writing).toBeInstanceOf(StoreError);
    expect(requests('UploadPart')).toHaveLength(1);
    expect(under.standIn.state.uploads.size).toBe(0);
  });

  it('completes after a passing error inside a 200', async () => {
    const upload = await written();
    misbehaveOn('CompleteUpload', { kind: 'error200', code: 'InternalError' }, null);
    expect(await upload.complete()).toBe('created');
    expect(object()?.headers['x-amz-meta-delivery-id']).toBe('d1');
  });

  it('announces the CRC-32 of the whole object, which the store compares at the end', async () => {
    await under.close();
    under = await openStandInStore({ checksum: 'crc32' });
    const first = Buffer.alloc(PART, 'a');
    const last = Buffer.from('end');
    await (await written()).complete();
    expect(requests('CreateUpload')[0]?.headers).toMatchObject({
      'x-amz-checksum-algorithm': 'CRC32',
      'x-amz-checksum-type': 'FULL_OBJECT',
    });
    const expected = Buffer.alloc(4);
    expected.writeUInt32BE(crc32(Buffer.concat([first, last])));
    const [completion] = requests('CompleteUpload');
    expect(completion?.headers).toMatchObject({
      'x-amz-checksum-crc32': expected.toString('base64'),
      'x-amz-checksum-type': 'FULL_OBJECT',
    });
    expect(completion?.body.toString().match(/<ChecksumCRC32>/g)).toHaveLength(2);
  });

  it('announces no checksum of the whole object to a server that checks the parts alone', async () => {
    await under.close();
    under = await openStandInStore({ checksum: 'crc32' });
    under.standIn.state.checksumType = 'COMPOSITE';
    await (await written()).complete();
    expect(requests('CompleteUpload')[0]?.headers['x-amz-checksum-crc32']).toBeUndefined();
  });

  it('announces no checksum of the whole object where none is configured', async () => {
    await (await written()).complete();
    for (const { headers } of [...requests('CreateUpload'), ...requests('CompleteUpload')])
      expect(Object.keys(headers).join()).not.toMatch(/x-amz-checksum/);
  });

  it('aborts again when a part landed after the first abort', async () => {
    const upload = await written();
    const [id, pending] = [...under.standIn.state.uploads][0] ?? [];
    let aborts = 0;
    under.standIn.misbehave = ({ operation }) => {
      if (operation === 'AbortUpload') aborts += 1;
      // The late part brings the upload back.
      if (operation === 'ListParts' && aborts === 1 && id && pending)
        under.standIn.state.uploads.set(id, pending);
      return null;
    };
    await upload.abort();
    expect(aborts).toBe(2);
    expect(under.standIn.state.uploads.size).toBe(0);
  });

  it.each<[string, Misbehaviour]>([
    ['refuses', error(403, 'AccessDenied')],
    ['fails', error(500, 'InternalError')],
  ])('never throws from abort when the store %s, and is not completed after it', async (_, fault) => {
    const upload = await written();
    under.standIn.misbehave = () => fault;
    await upload.abort();
    await upload.abort();
    under.standIn.misbehave = () => null;
    // What was discarded must not become visible.
    await expect(upload.complete()).rejects.toThrow(StoreError);
    expect(object()).toBeUndefined();
    expect(await under.store.sweepUploads(new Date(Date.now() + 60_000))).toBe(1);
  });

  it('treats NoSuchKey as a successful abort, as Ceph responds', async () => {
    const upload = await written();
    misbehaveOn('ListParts', error(404, 'NoSuchKey'));
    await upload.abort();
    expect(requests('AbortUpload')).toHaveLength(1);
  });

  it.each(['tenant=acme/jobs/j1/data', "a(b)*'c!/jobs/j1/data"])('sweeps an upload of %s', async (key) => {
    const upload = await under.store.startUpload(key, HEADERS);
    await upload.write(Buffer.from('x'));
    expect(await under.store.sweepUploads(new Date(Date.now() + 60_000))).toBe(1);
    expect(under.standIn.state.uploads.size).toBe(0);
  });

  it('sweeps and aborts nothing that the store keeps', async () => {
    await written();
    misbehaveOn('AbortUpload', error(403, 'AccessDenied'));
    expect(await under.store.sweepUploads(new Date(Date.now() + 60_000))).toBe(0);
    await expect(under.store.abortUploads('jobs/j1/')).rejects.toThrow(StoreError);
  });

  it('sweeps uploads on all pages, several of one key among them', async () => {
    under.standIn.state.page = 2;
    for (const key of ['a', KEY, KEY, KEY, 'z']) await under.store.startUpload(key, HEADERS);
    expect(await under.store.sweepUploads(new Date(Date.now() + 60_000))).toBe(5);
  });

  it('rejects a listing of uploads that is truncated and does not go on', async () => {
    under.standIn.state.page = 1;
    for (const key of ['a', 'z']) await under.store.startUpload(key, HEADERS);
    under.standIn.quirk = (request, proper) => {
      const answer = proper(request);
      const body = Buffer.from(answer.body.toString().replace(/<NextKeyMarker>.*?<\/NextKeyMarker>/, ''));
      return request.operation === 'ListUploads' ? { ...answer, body } : answer;
    };
    await expect(under.store.sweepUploads(new Date())).rejects.toThrow(/does not go on/);
  });

  it.each([
    ['lists', (query: URLSearchParams) => query],
    ['ignores the prefix of a listing and lists', () => new URLSearchParams('uploads')],
  ])('sweeps only uploads below its own prefix, where the store %s them', async (_, queryOf) => {
    under.standIn.quirk = (request, proper) =>
      proper(request.operation === 'ListUploads' ? { ...request, query: queryOf(request.query) } : request);
    const theirs = { key: 'some/prefix-of-others/x', headers: {}, begun: new Date(0), parts: new Map() };
    under.standIn.state.uploads.set('theirs', theirs);
    await under.store.startUpload(KEY, HEADERS);
    expect(await under.store.sweepUploads(new Date(Date.now() + 60_000))).toBe(1);
    expect([...under.standIn.state.uploads.keys()]).toEqual(['theirs']);
  });
});

import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type ObjectHeaders, StoreError } from '../../../../src/store/object-store.js';
import type { S3Settings } from '../../../../src/store/s3/s3-options.js';
import type { Misbehaviour } from '../../../support/store/s3-stand-in.js';
import { openStandInStore, PREFIX, type StandInStore } from '../../../support/store/stand-in-store.js';

const HEADERS: ObjectHeaders = { contentType: 'application/json', metadata: { 'job-id': 'j1' } };
const KEY = 'jobs/j1/transcript.json';
const BODY = Buffer.from('{"a":1}');
const HANG: Misbehaviour = { kind: 'hang' };

describe('an S3 create', () => {
  let under: StandInStore;

  afterEach(async () => {
    jest.useRealTimers();
    await under.close();
  });

  /** Time-outs end when the test says so, however long the machine takes. */
  function useManualTimers(): void {
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'queueMicrotask', 'setImmediate', 'setInterval'] });
  }

  /** Lets the time of an attempt pass once it hangs. */
  async function endHanging(attempt: number, timeoutMs: number): Promise<void> {
    while (puts().length < attempt) await nextTurn();
    jest.advanceTimersByTime(timeoutMs);
  }

  async function openWith(faults: (Misbehaviour | null)[], settings: S3Settings): Promise<void> {
    under = await openStandInStore(settings);
    under.standIn.misbehave = ({ operation, attempt }) =>
      operation === 'PutObject' ? (faults[attempt - 1] ?? null) : null;
  }

  async function createWhile(faults: (Misbehaviour | null)[], settings: S3Settings = {}) {
    await openWith(faults, settings);
    return under.store.create(KEY, BODY, HEADERS);
  }

  const puts = () => under.standIn.requests.filter(({ operation }) => operation === 'PutObject');

  it.each<[string, Misbehaviour]>([
    ['500', { kind: 'answer', status: 500, code: 'InternalError' }],
    ['503 SlowDown', { kind: 'answer', status: 503, code: 'SlowDown' }],
    ['409', { kind: 'answer', status: 409, code: 'ConditionalRequestConflict' }],
    ['a reset', { kind: 'reset' }],
    ['an error inside a 200', { kind: 'error200', code: 'InternalError' }],
    ['429', { kind: 'answer', status: 429, code: 'TooManyRequests' }],
  ])('is repeated after %s, conditional again', async (_, fault) => {
    expect(await createWhile([fault, fault])).toBe('created');
    expect(puts()).toHaveLength(3);
    for (const { headers } of puts()) expect(headers['if-none-match']).toBe('*');
    expect(under.standIn.state.objects.get(PREFIX + KEY)?.body).toEqual(BODY);
  });

  it.each<[string, Misbehaviour]>([
    ['a 500', { kind: 'answer', status: 500, code: 'InternalError', done: true }],
    ['a reset', { kind: 'reset', done: true }],
    ['an error inside a 200', { kind: 'error200', code: 'InternalError', done: true }],
  ])('ends as exists when it was done but answered with %s', async (_, fault) => {
    expect(await createWhile([fault])).toBe('exists');
    expect(under.standIn.state.objects.get(PREFIX + KEY)?.body).toEqual(BODY);
  });

  it('is given up after its attempts, naming operation and cause but no secret', async () => {
    const fault: Misbehaviour = { kind: 'answer', status: 503, code: 'SlowDown' };
    const failing = createWhile(Array(9).fill(fault), { retries: 2 });
    await expect(failing).rejects.toThrow(
      /^create: 503 SlowDown at "jobs\/j1\/transcript.json", request id tx3$/,
    );
    expect(puts()).toHaveLength(3);
  });

  it('is not repeated past its deadline, which a longer Retry-After reaches at once', async () => {
    const headers = { 'retry-after': '60' };
    const fault: Misbehaviour = { kind: 'answer', status: 503, code: 'SlowDown', headers };
    await expect(createWhile([fault])).rejects.toThrow(StoreError);
    expect(puts()).toHaveLength(1);
  });

  it('waits at least as long as Retry-After says', async () => {
    const fault: Misbehaviour = {
      kind: 'answer',
      status: 503,
      code: 'SlowDown',
      headers: { 'retry-after': '0.3' },
    };
    const started = performance.now();
    expect(await createWhile([fault])).toBe('created');
    expect(performance.now() - started).toBeGreaterThanOrEqual(295);
  });

  it('times out within the deadline of all attempts', async () => {
    await openWith([HANG, HANG, HANG, HANG], { requestTimeoutMs: 1_500, retryDeadlineMs: 4_400 });
    useManualTimers();
    const refused = expect(under.store.create(KEY, BODY, HEADERS)).rejects.toThrow(/did not answer/);
    for (const attempt of [1, 2]) await endHanging(attempt, 1_500);
    await refused;
    expect(puts()).toHaveLength(2);
  });

  it.each([
    [403, 'AccessDenied', /access denied/],
    [404, 'NoSuchBucket', /the bucket does not exist/],
    [301, 'PermanentRedirect', /another region/],
    [400, 'BadDigest', /changed in transit/],
  ])('fails at once on %d %s', async (status, code, message) => {
    const failing = createWhile(Array(3).fill({ kind: 'answer', status, code }));
    await expect(failing).rejects.toThrow(message);
    await expect(failing).rejects.not.toThrow(/very-secret-key|AKIATEST/);
    expect(puts()).toHaveLength(1);
  });

  it('signs the hash of the body, or the one its caller already has', async () => {
    expect(await createWhile([])).toBe('created');
    expect(puts()[0]?.headers['x-amz-content-sha256']).toBe(hash('sha256', BODY));
    expect(puts()[0]?.headers.authorization).toContain('AKIATEST/');
    const wrong = { ...HEADERS, metadata: { sha256: hash('sha256', 'other bytes') } };
    await expect(under.store.create('other', BODY, wrong)).rejects.toThrow(/announced/);
    expect(under.standIn.state.objects.has(`${PREFIX}other`)).toBe(false);
  });

  it('sends a crc32 when configured, and over http the hash as well', async () => {
    expect(await createWhile([], { checksum: 'crc32' })).toBe('created');
    const expected = Buffer.alloc(4);
    expected.writeUInt32BE(crc32(BODY));
    expect(puts()[0]?.headers['x-amz-checksum-crc32']).toBe(expected.toString('base64'));
    expect(puts()[0]?.headers['x-amz-sdk-checksum-algorithm']).toBe('CRC32');
    expect(puts()[0]?.headers['x-amz-content-sha256']).toBe(hash('sha256', BODY));
  });

  it('asks for the encryption that is configured', async () => {
    await createWhile([], { sse: { mode: 'aws:kms', keyId: 'key-1' } });
    expect(puts()[0]?.headers).toMatchObject({
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': 'key-1',
    });
  });

  it('asks for the storage class of content of jobs, small and in parts', async () => {
    await createWhile([], { storageClass: 'STANDARD_IA' });
    const artefact = { ...HEADERS, content: { kind: 'data', source: 'intake' } };
    await under.store.create('artefact', BODY, artefact);
    await under.store.replace('.canary/replica', BODY, HEADERS);
    expect(puts().map(({ headers }) => headers['x-amz-storage-class'])).toEqual([
      undefined,
      'STANDARD_IA',
      undefined,
    ]);
    await under.store.startUpload('large', artefact);
    await under.store.startUpload('other', HEADERS);
    const begun = under.standIn.requests.filter(({ operation }) => operation === 'CreateUpload');
    expect(begun.map(({ headers }) => headers['x-amz-storage-class'])).toEqual(['STANDARD_IA', undefined]);
  });

  it('tags content of jobs alone, small and in parts, and signs the tags', async () => {
    await createWhile([], { tags: true });
    const artefact = { ...HEADERS, content: { kind: 'data', source: 'intake é' } };
    await under.store.create('artefact', BODY, artefact);
    await under.store.replace('.canary/replica', BODY, HEADERS);
    const tagging = puts().map(({ headers }) => headers['x-amz-tagging']);
    expect(tagging).toEqual([undefined, 'kind=data&source=intake%20%C3%A9', undefined]);
    expect(puts()[1]?.headers.authorization).toContain(';x-amz-tagging,');
    await under.store.startUpload('large', artefact);
    await under.store.startUpload('other', HEADERS);
    const begun = under.standIn.requests.filter(({ operation }) => operation === 'CreateUpload');
    expect(begun.map(({ headers }) => headers['x-amz-tagging'])).toEqual([tagging[1], undefined]);
    expect(await under.store.tags?.('artefact')).toEqual({ kind: 'data', source: 'intake é' });
    expect(await under.store.tags?.('missing')).toBeNull();
  });

  it('locks artefacts and the named folders alone, small and in parts, with the checksum that AWS demands', async () => {
    const days = 30;
    const earliest = Date.now() + days * 86_400_000 - 1000;
    await createWhile([], { lock: { mode: 'GOVERNANCE', days, folders: ['ledger/'] } });
    const artefact = { ...HEADERS, metadata: { kind: 'data' } };
    await under.store.create('artefact', BODY, artefact);
    await under.store.create('ledger/segment', BODY, HEADERS);
    await under.store.replace('.canary/replica', BODY, HEADERS);
    const modes = puts().map(({ headers }) => headers['x-amz-object-lock-mode']);
    expect(modes).toEqual([undefined, 'GOVERNANCE', 'GOVERNANCE', undefined]);
    for (const { headers } of puts().slice(1, 3)) {
      expect(Date.parse(`${headers['x-amz-object-lock-retain-until-date']}`)).toBeGreaterThan(earliest);
      expect(headers['x-amz-checksum-crc32']).toBeDefined();
      expect(headers['x-amz-content-sha256']).toBe(hash('sha256', BODY));
    }
    const upload = await under.store.startUpload('large', artefact);
    await under.store.startUpload('other', HEADERS);
    await upload.write(BODY);
    await upload.complete();
    const begun = under.standIn.requests.filter(({ operation }) => operation === 'CreateUpload');
    expect(begun.map(({ headers }) => headers['x-amz-object-lock-mode'])).toEqual(['GOVERNANCE', undefined]);
    expect(begun[0]?.headers['x-amz-checksum-algorithm']).toBe('CRC32');
    const part = under.standIn.requests.find(({ operation }) => operation === 'UploadPart');
    expect(part?.headers['x-amz-checksum-crc32']).toBeDefined();
  });

  it('looks first and sends no condition where conditions are emulated', async () => {
    expect(await createWhile([], { conditionalWrites: 'emulated' })).toBe('created');
    expect(await under.store.create(KEY, Buffer.from('other'), HEADERS)).toBe('exists');
    expect(puts()).toHaveLength(1);
    expect(puts()[0]?.headers['if-none-match']).toBeUndefined();
  });
});

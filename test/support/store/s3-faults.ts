import { randomBytes, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type ObjectHeaders, type ObjectStore, StoreError } from '../../../src/store/object-store.js';
import { openStore } from '../../../src/store/open-store.js';
import type { StoreUnderTest } from '../../contract/object-store.js';
import { type FaultProxy, type ProxyFault, startFaultProxy } from './fault-proxy.js';

const HEADERS: ObjectHeaders = { contentType: 'text/plain', metadata: { 'delivery-id': 'd1' } };

/** The S3 store while the network between it and the server fails. */
export function describeS3Faults(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`the S3 store before ${name}, over a failing network`, () => {
    let place: StoreUnderTest;
    let proxy: FaultProxy;
    let store: ObjectStore;
    /** Only for requests that hang: on a busy machine later attempts may time out as well, after they took effect. */
    let impatient: ObjectStore;

    beforeAll(async () => {
      place = await open();
      proxy = await startFaultProxy(place.options.s3?.endpoint ?? '');
      const s3 = { ...place.options.s3, endpoint: proxy.url, retryDelayMs: 20 };
      store = await openStore({ ...place.options, s3: { ...s3, requestTimeoutMs: 60_000 } });
      impatient = await openStore({ ...place.options, s3: { ...s3, requestTimeoutMs: 3_000 } });
    });
    afterEach(() => {
      proxy.fault = () => null;
    });
    afterAll(async () => {
      await store?.close();
      await impatient?.close();
      await proxy?.close();
      await place?.dispose();
    });

    /** Requests of this kind fail with these faults in order; null forwards one. */
    function onEach(kind: RegExp, ...faults: (ProxyFault | null)[]): void {
      let met = 0;
      proxy.fault = ({ method, url }) => {
        if (!kind.test(`${method} ${url}`)) return null;
        const fault = faults[met % faults.length] ?? null;
        met += 1;
        return fault;
      };
    }

    const PUT = /^PUT /;
    const contentOf = async (key: string): Promise<string | null> => {
      const reading = await store.read(key);
      return reading && (await buffer(reading.body)).toString();
    };

    it.each<[string, ProxyFault]>([
      ['reset', { kind: 'reset' }],
      ['reset half-way', { kind: 'resetAfter', bytes: 10_000 }],
      ['answered with 503', { kind: 'answer', status: 503, code: 'SlowDown' }],
      ['answered with 409', { kind: 'answer', status: 409, code: 'OperationAborted' }],
    ])('creates an object although the first attempts are %s', async (_, fault) => {
      onEach(PUT, fault, fault, null);
      const key = `faults/${randomUUID()}`;
      const body = randomBytes(100_000);
      expect(await store.create(key, body, HEADERS)).toBe('created');
      const reading = await store.read(key);
      expect(reading && (await buffer(reading.body)).equals(body)).toBe(true);
    });

    it('reports its own object as existing when the answer was lost, never a foreign one as created', async () => {
      for (let n = 0; n < 10; n += 1) {
        const key = `faults/lost/${n}`;
        onEach(PUT, { kind: 'loseAnswer' }, null);
        const results = await Promise.all(
          ['one', 'two', 'three'].map((body) => store.create(key, Buffer.from(body), HEADERS)),
        );
        const created = ['one', 'two', 'three'].filter((_, index) => results[index] === 'created');
        const content = await contentOf(key);
        expect(['one', 'two', 'three']).toContain(content);
        expect(created.every((body) => body === content)).toBe(true);
      }
    });

    it('times out an attempt without an answer, and retries', async () => {
      onEach(PUT, { kind: 'hang' }, null);
      expect(['created', 'exists']).toContain(
        await impatient.create('faults/hang', Buffer.from('x'), HEADERS),
      );
      expect(await contentOf('faults/hang')).toBe('x');
    });

    it('retries a part whose connection stalls', async () => {
      onEach(PUT, { kind: 'hang' }, null);
      const part = randomBytes(store.partSize);
      const upload = await impatient.startUpload('faults/hanging-part', HEADERS);
      await upload.write(part);
      expect(['created', 'exists']).toContain(await upload.complete());
      const reading = await store.read('faults/hanging-part');
      expect(reading && (await buffer(reading.body)).equals(part)).toBe(true);
    });

    it('fails while the server is down and works when it is back', async () => {
      await proxy.refuse();
      await expect(store.create('faults/down', Buffer.from('x'), HEADERS)).rejects.toThrow(StoreError);
      await expect(store.head('faults/down')).rejects.toThrow(StoreError);
      await expect(store.startUpload('faults/down', HEADERS)).rejects.toThrow(StoreError);
      await proxy.accept();
      expect(await store.create('faults/down', Buffer.from('x'), HEADERS)).toBe('created');
    });

    it('uploads in parts over resets and lost answers', async () => {
      onEach(PUT, { kind: 'resetAfter', bytes: 1_000_000 }, null, { kind: 'loseAnswer' }, null);
      const parts = [randomBytes(store.partSize), randomBytes(store.partSize), randomBytes(100)];
      const upload = await store.startUpload('faults/parts', HEADERS);
      await Promise.all(parts.map((part) => upload.write(part)));
      expect(await upload.complete()).toBe('created');
      const reading = await store.read('faults/parts');
      expect(reading && (await buffer(reading.body)).equals(Buffer.concat(parts))).toBe(true);
    });

    it('finds its object after the answer to the completion was lost', async () => {
      const upload = await store.startUpload('faults/completed', HEADERS);
      await upload.write(Buffer.from('whole'));
      onEach(/^POST .*uploadId=/, { kind: 'loseAnswer' }, null);
      // Some servers answer the repeated completion with success again.
      expect(['created', 'exists']).toContain(await upload.complete());
      expect(await contentOf('faults/completed')).toBe('whole');
      expect(await store.sweepUploads(new Date(Date.now() + 3_600_000))).toBe(0);
    });

    it('ends a read in an error when the connection breaks', async () => {
      await store.create('faults/read', randomBytes(500_000), HEADERS);
      onEach(/^GET /, { kind: 'cutAnswer', bytes: 100_000 });
      const reading = await store.read('faults/read');
      await expect(reading && buffer(reading.body)).rejects.toThrow();
    });

    it('leaves nothing of an upload that is aborted while a slow part is in flight', async () => {
      onEach(PUT, { kind: 'slow', bytesPerSecond: 2_000_000 });
      const upload = await store.startUpload('faults/aborted', HEADERS);
      const writing = upload.write(randomBytes(store.partSize)).catch((error: unknown) => error);
      await upload.abort();
      expect(await writing).toBeInstanceOf(StoreError);
      proxy.fault = () => null;
      expect(await store.head('faults/aborted')).toBeNull();
      expect(await store.sweepUploads(new Date(Date.now() + 3_600_000))).toBe(0);
    });
  });
}

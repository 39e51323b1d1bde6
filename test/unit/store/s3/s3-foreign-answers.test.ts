import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ObjectHeaders, type ObjectStore, StoreError } from '../../../../src/store/object-store.js';
import { probeStore } from '../../../../src/store/probe/probe-store.js';
import type { Misbehaviour } from '../../../support/store/s3-stand-in.js';
import { openStandInStore, PREFIX, type StandInStore } from '../../../support/store/stand-in-store.js';

const HEADERS: ObjectHeaders = { contentType: 'text/plain', metadata: { 'delivery-id': 'd1' } };
const BODY = Buffer.from('body');
const LATER = () => new Date(Date.now() + 3_600_000);

async function upload(store: ObjectStore) {
  const pending = await store.startUpload('uploaded', HEADERS);
  await pending.write(BODY);
  return pending;
}

interface Verb {
  readonly operation: string;
  /** Uses the store so that the operation is needed; the value shows that its answer was the right one. */
  readonly run: (store: ObjectStore) => Promise<unknown>;
  readonly expected: unknown;
  /** What the store resolves to when only the answer was replaced. */
  readonly whenDone?: unknown;
}

const VERBS: readonly Verb[] = [
  {
    operation: 'PutObject',
    run: (store) => store.create('created', BODY, HEADERS),
    expected: 'created',
    whenDone: 'exists',
  },
  { operation: 'CreateUpload', run: async (store) => (await upload(store)).complete(), expected: 'created' },
  { operation: 'UploadPart', run: async (store) => (await upload(store)).complete(), expected: 'created' },
  {
    operation: 'CompleteUpload',
    run: async (store) => (await upload(store)).complete(),
    expected: 'created',
    whenDone: 'exists',
  },
  { operation: 'HeadObject', run: async (store) => (await store.head('there'))?.size, expected: 5 },
  {
    operation: 'GetObject',
    run: async (store) => {
      const reading = await store.read('there');
      return reading && text(reading.body);
    },
    expected: 'there',
  },
  {
    operation: 'ListObjects',
    run: async (store) => (await Array.fromAsync(store.list(''))).length,
    expected: 1,
  },
  { operation: 'ListObjects', run: (store) => Array.fromAsync(store.folders('')), expected: [] },
  {
    operation: 'DeleteObject',
    run: async (store) => {
      await store.delete('there');
      return store.head('there');
    },
    expected: null,
  },
  { operation: 'ListUploads', run: (store) => store.sweepUploads(LATER()), expected: 1 },
];

/** Pages as proxies show them; static ones carry an ETag and a length as well. */
const PAGES: readonly [string, Misbehaviour & { kind: 'page' }][] = [
  ['a page with status 200', { kind: 'page' }],
  ['a page with status 200 and an ETag', { kind: 'page', headers: { etag: '"5f-26"' } }],
  ['a page with status 202', { kind: 'page', status: 202 }],
  ['a page with status 204', { kind: 'page', status: 204 }],
];

describe('an answer that is not the store’s', () => {
  let under: StandInStore;

  beforeEach(async () => {
    under = await openStandInStore({ retries: 2 });
    under.standIn.state.put(`${PREFIX}there`, Buffer.from('there'), {});
    // The store is known by then, as it is from the probe on.
    await under.store.head('there');
    const abandoned = { key: `${PREFIX}abandoned`, headers: {}, begun: new Date(0), parts: new Map() };
    under.standIn.state.uploads.set('abandoned', abandoned);
  });
  afterEach(() => under.close());

  describe.each(PAGES)('%s', (_, page) => {
    it.each(VERBS)('is an error for $operation, never a success', async (verb) => {
      under.standIn.misbehave = ({ operation }) => (operation === verb.operation ? page : null);
      await expect(verb.run(under.store)).rejects.toThrow(StoreError);
      expect(under.standIn.state.objects.has(`${PREFIX}created`)).toBe(false);
      expect(under.standIn.state.objects.has(`${PREFIX}uploaded`)).toBe(false);
      expect(under.standIn.state.objects.has(`${PREFIX}there`)).toBe(true);
    });
  });

  it.each(VERBS)('to $operation is repeated until the store answers', async (verb) => {
    const met = new Set<string>();
    under.standIn.misbehave = ({ operation, key, query }) => {
      const request = `${operation} ${key} ${query}`;
      if (operation !== verb.operation || met.has(request)) return null;
      met.add(request);
      return { kind: 'page' };
    };
    expect(await verb.run(under.store)).toEqual(verb.expected);
  });

  it.each(VERBS)('to $operation, which was done, is settled by the next one', async (verb) => {
    under.standIn.misbehave = ({ operation, attempt }) =>
      operation === verb.operation && attempt === 1 ? { kind: 'page', done: true } : null;
    const result = await verb.run(under.store);
    // An upload begun unheard is one more to sweep.
    if (verb.operation !== 'ListUploads') expect(result).toEqual(verb.whenDone ?? verb.expected);
  });

  it.each(['HeadObject', 'GetObject'])('with status 404 makes nothing absent for %s', async (verb) => {
    under.standIn.misbehave = ({ operation }) => (operation === verb ? { kind: 'page', status: 404 } : null);
    const asked = verb === 'HeadObject' ? under.store.head('there') : under.store.read('there');
    await expect(asked).rejects.toThrow(/something other than the store answered/);
  });

  it('does not end an upload that goes on', async () => {
    const pending = await upload(under.store);
    under.standIn.misbehave = ({ operation, attempt }) =>
      operation === 'AbortUpload' && attempt <= 2 ? { kind: 'page' } : null;
    await pending.abort();
    expect([...under.standIn.state.uploads.keys()]).toEqual(['abandoned']);
  });

  it('is recognised by the missing request id where the store sends one, even if nothing else is', async () => {
    const headers = { 'content-type': '', etag: '"5f-26"' };
    under.standIn.misbehave = ({ operation }) =>
      operation === 'HeadObject' ? { kind: 'page', headers } : null;
    await expect(under.store.head('there')).rejects.toThrow(/something other than the store answered/);
  });

  it('is no proof that the store is writable', async () => {
    under.standIn.misbehave = ({ operation }) => (operation === 'PutObject' ? { kind: 'page' } : null);
    const report = await probeStore(under.store);
    expect(report).toMatchObject({ writable: false, trustworthy: false });
    expect(report.findings[0]).toMatch(/something other than the store answered.*status 200, text\/html/);
  });
});

describe('a store that sends no request ids', () => {
  it('is taken at its word when it keeps what S3 promises', async () => {
    const under = await openStandInStore();
    under.standIn.sendsRequestIds = false;
    try {
      expect(await under.store.create('a', BODY, HEADERS)).toBe('created');
      expect(await (await upload(under.store)).complete()).toBe('created');
      expect((await Array.fromAsync(under.store.list(''))).map(({ key }) => key)).toEqual(['a', 'uploaded']);
      await under.store.delete('a');
      expect(await under.store.head('a')).toBeNull();
      under.standIn.misbehave = () => ({ kind: 'page', headers: { etag: '"5f-26"' } });
      await expect(under.store.create('b', BODY, HEADERS)).rejects.toThrow(StoreError);
      // Nothing but the page says that this is not the store: its object is there.
      under.standIn.misbehave = () => ({ kind: 'page', status: 404 });
      await expect(under.store.head('uploaded')).rejects.toThrow(StoreError);
      await expect(under.store.read('uploaded')).rejects.toThrow(StoreError);
    } finally {
      await under.close();
    }
  });
});

describe('a store that does not always send request ids', () => {
  let under: StandInStore;

  beforeEach(async () => {
    under = await openStandInStore({ retries: 2 });
  });
  afterEach(() => under.close());

  const keys = Array.from({ length: 46 }, (_, n) => `job-${n}`);
  const createAll = () => Promise.all(keys.map((key) => under.store.create(key, BODY, HEADERS)));

  /** Whether the answer to a request has an id, by the number of the request. */
  function identify(isIdentified: (request: number) => boolean): void {
    under.standIn.misbehave = () => {
      under.standIn.sendsRequestIds = isIdentified(under.standIn.requests.length);
      return null;
    };
  }

  it.each<[string, (request: number) => boolean]>([
    ['a single answer', (request) => request === 2],
    ['two gateways in turn', (request) => request % 2 === 0],
    ['the time before an upgrade', (request) => request < 20],
  ])('loses none of its writes when %s had an id', async (_, isIdentified) => {
    identify(isIdentified);
    expect(new Set(await createAll())).toEqual(new Set(['created']));
    const puts = under.standIn.requests.filter(({ operation }) => operation === 'PutObject');
    expect(puts).toHaveLength(46);
    expect(under.notices.filter((notice) => notice.includes('x-amz-request-id'))).toHaveLength(1);
    identify(() => false);
    expect(await under.store.head('none')).toBeNull();
    await under.store.delete('job-0');
  });

  it('loses none of its writes when all its answers have one id', async () => {
    under.standIn.requestId = () => 'constant';
    expect(new Set(await createAll())).toEqual(new Set(['created']));
    expect(under.standIn.state.objects.size).toBe(46);
    expect(under.notices.filter((notice) => notice.includes('repeats it'))).toHaveLength(1);
  });

  it('is not believed for the answer to another write', async () => {
    const other = { etag: '"d41d8cd98f00b204e9800998ecf8427e"', 'x-amz-request-id': 'tx1' };
    await under.store.create('a', BODY, HEADERS);
    under.standIn.misbehave = ({ operation }) =>
      operation === 'PutObject' ? { kind: 'emptyPage', headers: other } : null;
    await expect(under.store.create('b', BODY, HEADERS)).rejects.toThrow(/of an earlier answer/);
    under.standIn.misbehave = ({ attempt }) => (attempt === 2 ? { kind: 'emptyPage', headers: other } : null);
    expect(await under.store.create('b', BODY, HEADERS)).toBe('created');
    expect(await under.store.head('b')).not.toBeNull();
    expect(under.notices).toEqual([]);
  });

  it('is believed again after a listing; until then an error names the missing id', async () => {
    await under.store.create('a', BODY, HEADERS);
    under.standIn.sendsRequestIds = false;
    await expect(under.store.head('a')).rejects.toThrow(
      /without x-amz-request-id, which the store has sent before/,
    );
    await expect(under.store.delete('none')).rejects.toThrow(StoreError);
    expect(await Array.fromAsync(under.store.list(''))).toHaveLength(1);
    expect((await under.store.head('a'))?.size).toBe(BODY.length);
  });

  it('is not believed for a page that has the ETag of a write and an empty body', async () => {
    await under.store.create('a', BODY, HEADERS);
    const headers = { etag: '"5f-26"', 'content-type': '' };
    under.standIn.misbehave = ({ operation }) =>
      operation === 'HeadObject' ? { kind: 'page', headers } : { kind: 'emptyPage', headers };
    await expect(under.store.create('b', BODY, HEADERS)).rejects.toThrow(StoreError);
    under.standIn.misbehave = () => null;
    expect(await under.store.create('b', BODY, HEADERS)).toBe('created');
    expect(under.notices).toEqual([]);
  });
});

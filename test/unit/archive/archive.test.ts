import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createFileStore } from '../../../src/store/file/file-store.js';
import { type ObjectStore, StoreError } from '../../../src/store/object-store.js';
import {
  archiveOver,
  commit,
  context,
  keysOf,
  MEDIA,
  putItem,
  randomContent,
  readAll,
  TRANSCRIPT,
} from '../../support/store/archive-fixture.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

const PART = 256 * 1024;
const LARGE = 3 * PART + 1234;

let store: ObjectStore;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeEach(async () => {
  folder = await temporaryFolder();
  store = createFileStore({ directory: folder.path, partSize: PART, fsync: false });
});

afterEach(async () => {
  expect(await readdir(join(folder.path, '.tmp')).catch(() => [])).toEqual([]);
  await store.close();
  await folder.remove();
});

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

async function deliver(items: [identity: typeof MEDIA, content: Buffer][], more = {}) {
  const { archive } = archiveOver(store);
  const staged = archive.begin(context(more));
  for (const [identity, content] of items) await putItem(staged, identity, content);
  return commit(staged);
}

describe('the archive', () => {
  it.each([
    ['nothing', 0],
    ['one byte', 1],
    ['several chunks', 200_000],
    ['exactly one part', PART],
    ['one byte more than a part', PART + 1],
    ['several parts', LARGE],
  ])('stores an item of %s byte-exact and reports its hash', async (_, size) => {
    const content = randomContent(size);
    const [item] = await deliver([[MEDIA, content]]);
    expect(item).toEqual({
      kind: 'data',
      key: 'jobs/job1/data',
      size,
      sha256: sha256(content),
      outcome: 'created',
    });
    expect((await readAll(store, 'jobs/job1/data'))?.equals(content)).toBe(true);
  });

  it('returns the memory of an item only when the store has read it, even if its delivery is discarded before', async () => {
    const { promise: reading, resolve: mayRead } = Promise.withResolvers<void>();
    let isReading = false;
    const slow: ObjectStore = {
      ...store,
      async create(key, body, headers) {
        isReading = true;
        await reading;
        return store.create(key, body, headers);
      },
    };
    const { archive, budget } = archiveOver(slow);
    const staged = archive.begin(context());
    await putItem(staged, TRANSCRIPT, randomContent(1000));
    const committing = commit(staged);
    await until(() => isReading);
    await staged.discard();
    expect(budget.used).toBe(1000);
    mayRead();
    await committing;
    expect(budget.used).toBe(0);
  });

  it.each([
    ['held in memory', 1000],
    ['streamed', LARGE],
  ])('keeps no conflict of an item that only stands in, %s', async (_, size) => {
    const first = randomContent(size);
    await deliver([[MEDIA, first]]);
    const { archive } = archiveOver(store);
    const staged = archive.begin(context());
    const item = staged.open({ identify: () => MEDIA, standsIn: true });
    await item.write(randomContent(size - 1));
    await item.end();
    expect(await commit(staged)).toEqual([
      { kind: 'data', key: 'jobs/job1/data', size, sha256: sha256(first), outcome: 'identical' },
    ]);
    expect(await keysOf(store, 'jobs/')).toEqual(['jobs/job1/data']);
  });

  it('stores metadata about the origin of an artefact', async () => {
    const { archive } = archiveOver(store);
    const ctx = context({ keyPrefix: 'team/' });
    const staged = archive.begin(ctx);
    await putItem(staged, TRANSCRIPT, Buffer.from('{}'), 'Gespräch 1.json');
    await commit(staged);
    expect((await store.head('team/jobs/job1/transcript.json'))?.metadata).toEqual({
      'job-id': 'job1',
      kind: 'transcript.json-v2',
      status: 'success',
      source: 'default',
      region: 'eu1',
      'delivery-id': ctx.deliveryId,
      'received-at': '2026-01-02T03:04:05.678Z',
      origin: 'callback',
      sha256: sha256(Buffer.from('{}')),
      'file-name': 'Gespr%C3%A4ch%201.json',
    });
  });

  it.each([
    ['语'.repeat(57), '语'.repeat(56)],
    ['ü'.repeat(86), 'ü'.repeat(85)],
    ['a'.repeat(513), 'a'.repeat(512)],
    [`${'a'.repeat(511)}ü`, 'a'.repeat(511)],
  ])('keeps as much of a long file name as S3 has room for: %s', async (fileName, kept) => {
    const { archive } = archiveOver(store);
    const staged = archive.begin(context());
    await putItem(staged, TRANSCRIPT, Buffer.from('{}'), fileName);
    await commit(staged);
    expect((await store.head('jobs/job1/transcript.json'))?.metadata['file-name']).toBe(
      encodeURIComponent(kept),
    );
  });

  it.each([
    ['held in memory', 1000],
    ['streamed', LARGE],
  ])('shows nothing of a delivery before its commit, %s', async (_, size) => {
    const { archive } = archiveOver(store);
    const staged = archive.begin(context());
    await putItem(staged, MEDIA, randomContent(size));
    expect(await keysOf(store)).toEqual([]);
    await commit(staged);
    expect(await keysOf(store)).toEqual(['jobs/job1/data']);
  });

  it.each([
    ['small', 1000],
    ['streamed', LARGE],
  ])(
    'keeps repeated names of one delivery apart: the first wins, a different second is a conflict, %s',
    async (_, size) => {
      const first = randomContent(size);
      const second = randomContent(size);
      const third = randomContent(size);
      const contents = [first, second, first, third];
      const form = contents.map((content) => [MEDIA, content] as [typeof MEDIA, Buffer]);
      const items = await deliver(form);
      expect(items.map((item) => item.outcome)).toEqual(['created', 'conflict', 'identical', 'conflict']);
      for (const [n, { key }] of items.entries())
        expect((await readAll(store, key))?.equals(contents[n] ?? first)).toBe(true);
      expect(items[0]?.key).toBe('jobs/job1/data');
      expect((await deliver(form)).map((item) => item.outcome)).toEqual(contents.map(() => 'identical'));
      expect(await keysOf(store)).toHaveLength(3);
    },
  );

  it('lets the first of repeated names win, however long its write takes', async () => {
    let writes = 0;
    const slow: ObjectStore = {
      ...store,
      async create(key, body, headers) {
        writes += 1;
        if (writes === 1) await sleep(20);
        return store.create(key, body, headers);
      },
    };
    const staged = archiveOver(slow).archive.begin(context());
    const first = randomContent(100);
    await putItem(staged, MEDIA, first);
    await putItem(staged, MEDIA, randomContent(100));
    expect((await commit(staged)).map(({ outcome }) => outcome)).toEqual(['created', 'conflict']);
    expect((await readAll(store, 'jobs/job1/data'))?.equals(first)).toBe(true);
  });

  it('reports the items of a delivery in the order in which they came, streamed ones among them', async () => {
    const types = [
      'jobinfo',
      'data',
      'transcript.txt',
      'attachment',
      'transcript.srt',
      'transcript.json-v2',
    ] as const;
    const items = await deliver(
      types.map((kind) => [
        { ...MEDIA, kind },
        randomContent(kind === 'data' || kind === 'attachment' ? LARGE : 9),
      ]),
    );
    expect(items.map(({ kind }) => kind)).toEqual(types);
  });

  it('shows no small item of a delivery whose streamed item loses a race', async () => {
    const { archive } = archiveOver(store);
    const loser = archive.begin(context());
    await putItem(loser, TRANSCRIPT, randomContent(100));
    await putItem(loser, MEDIA, randomContent(LARGE));
    const winner = archive.begin(context());
    await putItem(winner, MEDIA, randomContent(LARGE));
    await commit(winner);
    await expect(commit(loser)).rejects.toMatchObject({ code: 'write-race' });
    expect(await keysOf(store)).toEqual(['jobs/job1/data']);
  });

  it('refuses a delivery only when none of its writes is under way any more', async () => {
    const held = new Map<string, () => void>();
    const slow: ObjectStore = {
      ...store,
      async create(key, body, headers) {
        if (key.endsWith('/data')) throw new StoreError('create', 'EMFILE');
        await new Promise<void>((resolve) => held.set(key, resolve));
        return store.create(key, body, headers);
      },
    };
    const { archive, budget } = archiveOver(slow);
    const staged = archive.begin(context());
    await putItem(staged, MEDIA, randomContent(100));
    await putItem(staged, TRANSCRIPT, randomContent(100));
    let refused = false;
    const refusal = commit(staged).catch((error: unknown) => {
      refused = true;
      return error;
    });
    await until(() => held.size === 1);
    expect([refused, budget.used]).toEqual([false, 200]);
    for (const release of held.values()) release();
    expect(await refusal).toMatchObject({ name: 'StoreError', message: 'create: EMFILE' });
    expect(await keysOf(store)).toEqual(['jobs/job1/transcript.json']);
    expect(budget.used).toBe(0);
  });

  it('gives the memory of a delivery back whose commit has failed, and aborts its uploads', async () => {
    const failing: ObjectStore = {
      ...store,
      async startUpload(key, headers) {
        const complete = () => Promise.reject(new StoreError('complete', 'EIO'));
        return Object.assign(await store.startUpload(key, headers), { complete });
      },
    };
    const { archive, budget } = archiveOver(failing, 16);
    const staged = archive.begin(context());
    const attachment = { kind: 'attachment', contentType: 'x/y', attachmentName: 'a' } as const;
    for (const identity of [MEDIA, attachment]) await putItem(staged, identity, randomContent(LARGE));
    await expect(commit(staged)).rejects.toThrow('EIO');
    expect(budget.used).toBe(0);
  });

  it('begins no further write of a delivery after one has failed, and a repetition completes it', async () => {
    const contents = Array.from({ length: 6 }, () => randomContent(100));
    const identities = contents.map(
      (_, n) => ({ kind: 'attachment', contentType: 'x/y', attachmentName: `${n}` }) as const,
    );
    let broken = true;
    const failing: ObjectStore = {
      ...store,
      create: (key, body, headers) =>
        broken && key.endsWith('/1')
          ? Promise.reject(new StoreError('create', 'EIO'))
          : store.create(key, body, headers),
    };
    const attempt = async () => {
      const staged = archiveOver(failing).archive.begin(context());
      for (const [n, identity] of identities.entries())
        await putItem(staged, identity, contents[n] ?? Buffer.alloc(0));
      return commit(staged);
    };
    await expect(attempt()).rejects.toThrow('EIO');
    expect(await keysOf(store)).toEqual([0, 2, 3].map((n) => `jobs/job1/attachments/${n}`));
    broken = false;
    expect((await attempt()).map(({ outcome }) => outcome)).toEqual([
      'identical',
      'created',
      'identical',
      'identical',
      'created',
      'created',
    ]);
  });

  it('names a held item by its hash also when it had to make room', async () => {
    const first = randomContent(PART - 1);
    const second = randomContent(PART - 1);
    for (const small of [first, second]) {
      const staged = archiveOver(store, 2).archive.begin(context());
      await putItem(staged, TRANSCRIPT, small);
      await putItem(staged, MEDIA, Buffer.alloc(LARGE));
      await commit(staged);
    }
    const beside = `jobs/job1/conflicts/transcript.json.${sha256(second)}`;
    for (const [key, content] of [
      ['jobs/job1/transcript.json', first],
      [beside, second],
    ] as const) {
      expect((await readAll(store, key))?.equals(content)).toBe(true);
      expect((await store.head(key))?.metadata.sha256).toBe(sha256(content));
    }
    expect((await store.head('jobs/job1/data'))?.metadata.sha256).toBeUndefined();
  });

  it('moves held items into uploads rather than wait for memory that it holds itself', async () => {
    const { archive, budget } = archiveOver(store, 2);
    const deliveries = Array.from({ length: 6 }, (_, n) => ({
      staged: archive.begin(context({ jobId: `job${n}` })),
      small: randomContent(PART - 1),
      large: randomContent(LARGE),
    }));
    await Promise.all(
      deliveries.map(async ({ staged, small, large }) => {
        await putItem(staged, TRANSCRIPT, small);
        await putItem(staged, MEDIA, large);
        await commit(staged);
      }),
    );
    for (const [n, { small, large }] of deliveries.entries()) {
      expect((await readAll(store, `jobs/job${n}/transcript.json`))?.equals(small)).toBe(true);
      expect((await readAll(store, `jobs/job${n}/data`))?.equals(large)).toBe(true);
    }
    expect(budget.used).toBe(0);
  });
});

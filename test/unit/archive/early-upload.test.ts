import { describe, expect, it } from '@jest/globals';
import type { ItemDescription } from '../../../src/domain/item.js';
import { StoreError } from '../../../src/store/object-store.js';
import {
  archiveOver,
  context,
  keysOf,
  MEDIA,
  putItem,
  randomContent,
  readAll,
  TRANSCRIPT,
} from '../../support/store/archive-fixture.js';
import { type BeforeCall, createMemoryStore } from '../../support/store/memory-store.js';

const CHUNK = 64 * 1024;
const PART = 8 * 1024 * 1024;
const MEDIA_ITEM: ItemDescription = { identify: () => MEDIA, isMedia: true };

/** A delivery over a memory store that announced `expectedBytes`. */
function begin(expectedBytes: number | null, before?: BeforeCall) {
  const store = createMemoryStore(before);
  const { archive, budget } = archiveOver(store);
  const staged = archive.begin(context(), { expectedBytes });
  const operations = () => store.calls.map(({ operation }) => operation);
  return { store, budget, staged, operations };
}

const chunk = () => randomContent(CHUNK);

describe('the upload of media that is announced with more than one part', () => {
  it('is opened when half of its first part has memory', async () => {
    const { staged, operations } = begin(PART + 1);
    const item = staged.open(MEDIA_ITEM);
    for (let at = 0; at < PART / 2; at += CHUNK) await item.write(chunk());
    expect(operations()).toEqual([]);
    await item.write(chunk());
    expect(operations()).toEqual(['head', 'startUpload']);
    await staged.discard();
  });

  it('is opened once, and its first part need not wait for that any more', async () => {
    const { staged, operations, store } = begin(2 * PART);
    const content = randomContent(2 * PART);
    const item = staged.open(MEDIA_ITEM);
    for (let at = 0; at < PART; at += CHUNK) await item.write(content.subarray(at, at + CHUNK));
    expect(operations()).toEqual(['head', 'startUpload']);
    await item.write(content.subarray(PART));
    await item.end();
    expect((await staged.commit()).map(({ outcome }) => outcome)).toEqual(['created']);
    expect(operations()).toEqual(['head', 'startUpload', 'write', 'write', 'complete']);
    expect((await readAll(store, 'jobs/job1/data'))?.equals(content)).toBe(true);
  });

  it.each([
    ['no more than one part', PART, MEDIA_ITEM],
    ['no size', null, MEDIA_ITEM],
    ['another kind', 2 * PART, { identify: () => TRANSCRIPT }],
  ])(
    'is not opened before the first part is full for a delivery that announces %s',
    async (_, expected, description) => {
      const { staged, operations } = begin(expected);
      const item = staged.open(description);
      for (let at = 0; at < PART; at += CHUNK) await item.write(chunk());
      expect(operations()).toEqual([]);
      await staged.discard();
    },
  );

  it('is not opened for what is left of a form that had larger parts before', async () => {
    const { staged, operations, store } = begin(2 * PART);
    await putItem(staged, TRANSCRIPT, randomContent(PART));
    const item = staged.open(MEDIA_ITEM);
    const content = randomContent(PART - CHUNK);
    for (let at = 0; at < content.length; at += CHUNK) await item.write(content.subarray(at, at + CHUNK));
    await item.end();
    await staged.commit();
    expect(operations()).toEqual(['create', 'create']);
    expect((await readAll(store, 'jobs/job1/data'))?.equals(content)).toBe(true);
  });

  it.each([
    ['is empty', 0],
    ['is one chunk', CHUNK],
    ['is shorter than a part', PART / 2 + 3 * CHUNK + 1],
    ['is exactly one part', PART],
  ])('holds it byte-exact when it %s after all', async (_, size) => {
    const { staged, store, budget } = begin(3 * PART);
    const content = randomContent(size);
    const item = staged.open(MEDIA_ITEM);
    for (let at = 0; at < size; at += CHUNK) await item.write(content.subarray(at, at + CHUNK));
    await item.end();
    const [stored] = await staged.commit();
    expect(stored).toMatchObject({ key: 'jobs/job1/data', size, outcome: 'created' });
    expect((await readAll(store, 'jobs/job1/data'))?.equals(content)).toBe(true);
    expect(budget.used).toBe(0);
  });

  it('keeps different bytes of a taken key as a conflict, and stores the same bytes only once', async () => {
    const content = randomContent(PART - CHUNK);
    for (const [bytes, outcome] of [
      [content, 'identical'],
      [randomContent(PART - CHUNK), 'conflict'],
    ] as const) {
      const { staged, store } = begin(2 * PART);
      await store.create('jobs/job1/data', content, { contentType: 'audio/wav', metadata: {} });
      const item = staged.open(MEDIA_ITEM);
      for (let at = 0; at < bytes.length; at += CHUNK) await item.write(bytes.subarray(at, at + CHUNK));
      await item.end();
      expect((await staged.commit())[0]?.outcome).toBe(outcome);
      expect(await keysOf(store, 'jobs/')).toHaveLength(outcome === 'conflict' ? 2 : 1);
    }
  });

  it.each([
    ['its first part is full', PART + 1],
    ['it ends', PART - CHUNK],
  ])('fails when %s if the store refused it', async (_, size) => {
    const { staged, budget, operations } = begin(2 * PART, (operation) => {
      if (operation === 'startUpload') throw new StoreError('startUpload', 'away');
    });
    const item = staged.open(MEDIA_ITEM);
    const sending = (async () => {
      for (let at = 0; at < size; at += CHUNK) await item.write(randomContent(Math.min(CHUNK, size - at)));
      await item.end();
    })();
    await expect(sending).rejects.toThrow('away');
    await staged.discard();
    expect([budget.used, operations()]).toEqual([0, ['head', 'startUpload']]);
  });

  it('is aborted when the delivery is discarded while it is being opened', async () => {
    let open = (): void => undefined;
    const opening = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { staged, store, budget } = begin(2 * PART, (operation) =>
      operation === 'startUpload' ? opening : undefined,
    );
    const aborted: string[] = [];
    const { startUpload } = store;
    store.startUpload = async (key, headers) => ({
      ...(await startUpload(key, headers)),
      abort: async () => void aborted.push(key),
    });
    const item = staged.open(MEDIA_ITEM);
    for (let at = 0; at < PART; at += CHUNK) await item.write(chunk());
    const discarding = staged.discard();
    open();
    await discarding;
    expect([aborted, budget.used]).toEqual([['jobs/job1/data'], 0]);
  });
});

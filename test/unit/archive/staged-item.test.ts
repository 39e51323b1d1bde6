import { setImmediate as settle } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { StoreError } from '../../../src/store/object-store.js';
import {
  archiveOver,
  commit,
  context,
  MEDIA,
  putItem,
  randomContent,
  TRANSCRIPT,
} from '../../support/store/archive-fixture.js';
import { type BeforeCall, createMemoryStore } from '../../support/store/memory-store.js';
import { until } from '../../support/until.js';

const CHUNK = 64 * 1024;

/** A delivery over a memory store that announced several parts. */
function begin(before?: BeforeCall) {
  const store = createMemoryStore(before);
  const { archive, budget } = archiveOver(store);
  const staged = archive.begin(context(), { expectedBytes: 3 * store.partSize });
  const operations = () => store.calls.map(({ operation }) => operation);
  return { store, budget, staged, operations };
}

describe('an item of a delivery that announced several parts', () => {
  it('stays in memory up to one part, so that the same bytes go the same way in every framing', async () => {
    const { staged, store, operations } = begin();
    await putItem(staged, MEDIA, randomContent(store.partSize));
    expect(operations()).toEqual([]);
    await commit(staged);
    expect(operations()).toEqual(['create']);
  });

  it('opens its upload when its first part is full', async () => {
    const { staged, store, operations } = begin();
    await putItem(staged, MEDIA, randomContent(store.partSize + 1));
    expect(operations()).toEqual(['head', 'startUpload', 'write', 'write']);
    await staged.discard();
  });

  it('has three parts on their way at most, and takes no more bytes meanwhile', async () => {
    const { promise: writing, resolve: write } = Promise.withResolvers<void>();
    const { staged, store, operations } = begin((operation) => (operation === 'write' ? writing : undefined));
    let isWhole = false;
    const sending = putItem(staged, MEDIA, randomContent(6 * store.partSize)).then(() => (isWhole = true));
    const writes = () => operations().filter((operation) => operation === 'write').length;
    await until(() => writes() === 3);
    await settle();
    expect([writes(), isWhole]).toEqual([3, false]);
    write();
    await sending;
    expect(writes()).toBe(6);
    await staged.discard();
  });

  it('takes no more bytes once a part has failed', async () => {
    const { staged, store, operations } = begin((operation) => {
      if (operation === 'write') throw new StoreError('write', 'EIO');
    });
    await expect(putItem(staged, MEDIA, randomContent(9 * store.partSize))).rejects.toThrow('EIO');
    expect(operations().filter((operation) => operation === 'write').length).toBeLessThan(4);
    await staged.discard();
  });

  it('pays for its content alone once it has ended, whatever was announced', async () => {
    const { staged, budget } = begin();
    await putItem(staged, TRANSCRIPT, randomContent(CHUNK + 1));
    expect(budget.used).toBe(2 * CHUNK);
    await staged.discard();
  });

  it('opens no upload once it was discarded while another one made room', async () => {
    const { promise: opening, resolve: open } = Promise.withResolvers<void>();
    const store = createMemoryStore((operation) => (operation === 'startUpload' ? opening : undefined));
    const { archive, budget } = archiveOver(store, 2);
    const staged = archive.begin(context());
    const attachments = ['a', 'b'].map(
      (attachmentName) => ({ ...MEDIA, kind: 'attachment', attachmentName }) as const,
    );
    for (const identity of attachments) await putItem(staged, identity, randomContent(100_000));
    const ended = expect(putItem(staged, MEDIA, randomContent(store.partSize))).rejects.toThrow();
    const opened = () =>
      store.calls.filter(({ operation }) => operation === 'startUpload').map(({ key }) => key);
    await until(() => opened().length === 1);
    const discarding = staged.discard();
    open();
    await Promise.all([discarding, ended]);
    expect([opened(), budget.used]).toEqual([['jobs/job1/attachments/a'], 0]);
  });

  it('aborts its upload when it is discarded while that is being opened', async () => {
    const { promise: opening, resolve: open } = Promise.withResolvers<void>();
    const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
    const { staged, store, budget } = begin((operation) => {
      if (operation !== 'startUpload') return undefined;
      asked();
      return opening;
    });
    const aborted: string[] = [];
    const { startUpload } = store;
    store.startUpload = async (key, headers) => ({
      ...(await startUpload(key, headers)),
      abort: async () => void aborted.push(key),
    });
    const sending = putItem(staged, MEDIA, randomContent(store.partSize + CHUNK));
    const ended = expect(sending).rejects.toThrow();
    await isAsked;
    const discarding = staged.discard();
    open();
    await discarding;
    await ended;
    expect([aborted, budget.used]).toEqual([['jobs/job1/data'], 0]);
  });
});

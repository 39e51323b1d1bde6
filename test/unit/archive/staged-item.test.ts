import { describe, expect, it } from '@jest/globals';
import {
  archiveOver,
  commit,
  context,
  MEDIA,
  putItem,
  randomContent,
} from '../../support/store/archive-fixture.js';
import { type BeforeCall, createMemoryStore } from '../../support/store/memory-store.js';

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

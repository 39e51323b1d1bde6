import { describe, expect, it } from '@jest/globals';
import { StoreError } from '../../../src/store/object-store.js';
import {
  archiveOver,
  commit,
  context,
  keysOf,
  MEDIA,
  putItem,
  TRANSCRIPT,
} from '../../support/store/archive-fixture.js';
import { createMemoryStore } from '../../support/store/memory-store.js';

describe('a delivery that is discarded', () => {
  const items = ['a', 'b', 'c', 'd', 'e', 'f'].map((attachmentName) => ({
    kind: 'attachment' as const,
    contentType: 'text/plain',
    attachmentName,
  }));

  it('while it commits a form writes nothing more, least of all items without their bytes', async () => {
    let discarding: Promise<void> | null = null;
    const store = createMemoryStore((operation) => {
      if (operation === 'create') discarding ??= staged.discard();
    });
    const { archive, budget } = archiveOver(store);
    const staged = archive.begin(context());
    for (const item of items) await putItem(staged, item, Buffer.from(item.attachmentName));
    await expect(commit(staged)).rejects.toThrow('the delivery ended');
    await discarding;
    const stored = [...store.objects].map(([key, { body }]) => `${key} ${body}`);
    expect(stored).toEqual(['jobs/job1/attachments/a a']);
    expect(budget.used).toBe(0);
  });
});

describe('a part that the store does not take', () => {
  it.each([
    ['the first', 1],
    ['the last', 3],
  ])(
    'fails the delivery when it is %s: nothing becomes visible, and its memory comes back',
    async (_, nth) => {
      let writes = 0;
      const store = createMemoryStore((operation) => {
        if (operation === 'write' && ++writes === nth) throw new StoreError('write', 'EIO');
      });
      const { archive, budget } = archiveOver(store);
      const staged = archive.begin(context());
      const delivery = putItem(staged, MEDIA, Buffer.alloc(store.partSize * 2.5, 1)).then(() =>
        commit(staged),
      );
      await expect(delivery).rejects.toThrow('EIO');
      await staged.discard();
      expect(await keysOf(store)).toEqual([]);
      expect(store.calls.map(({ operation }) => operation)).not.toContain('complete');
      expect(budget.used).toBe(0);
    },
  );
});

describe('a delivery of a job that was erased', () => {
  it.each([
    ['before the commit', [true], 0],
    ['while it was committed', [false, true], 2],
  ])('%s leaves nothing', async (_, answers, creates) => {
    const store = createMemoryStore();
    const { archive, budget } = archiveOver(store);
    const staged = archive.begin(context());
    await putItem(staged, TRANSCRIPT, Buffer.from('{}'));
    await putItem(staged, MEDIA, Buffer.from('a'));
    expect(await staged.commit(async () => answers.shift() ?? true)).toBeNull();
    expect(await keysOf(store)).toEqual([]);
    expect(budget.used).toBe(0);
    expect(store.calls.filter(({ operation }) => operation === 'create')).toHaveLength(creates);
  });

  it('leaves nothing of a commit that failed half-way either', async () => {
    let creates = 0;
    const store = createMemoryStore((operation) => {
      if (operation === 'create' && ++creates === 2) throw new StoreError('create', 'EIO');
    });
    const staged = archiveOver(store).archive.begin(context());
    await putItem(staged, TRANSCRIPT, Buffer.from('{}'));
    await putItem(staged, MEDIA, Buffer.from('a'));
    expect(await staged.commit(async () => creates > 0)).toBeNull();
    expect(await keysOf(store)).toEqual([]);
  });
});

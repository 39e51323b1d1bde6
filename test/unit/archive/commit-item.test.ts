import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { StoredItem } from '../../../src/domain/item.js';
import { type CreateResult, type ObjectStore, StoreError } from '../../../src/store/object-store.js';
import {
  archiveOver,
  commit,
  context,
  MEDIA,
  putItem,
  randomContent,
  TRANSCRIPT,
} from '../../support/store/archive-fixture.js';
import { createMemoryStore, type MemoryStore } from '../../support/store/memory-store.js';

/*
 * What a commit makes of each answer of the store. A write that says `exists` may be a write of our own whose answer was
 * lost, another delivery's, or one that an erasure removed before it could be read back.
 */

const PART = 256 * 1024;
const LARGE = PART + 1;
const KEY = 'jobs/job1/data';
const TRANSCRIPT_KEY = 'jobs/job1/transcript.json';

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');

type Answers = Partial<Record<'create' | 'complete', (key: string, result: CreateResult) => CreateResult>>;

/** The store, whose answers are changed on their way back. */
function answering(memory: MemoryStore, answers: Answers): ObjectStore {
  return {
    ...memory,
    partSize: PART,
    async create(key, body, headers) {
      const result = await memory.create(key, body, headers);
      return answers.create?.(key, result) ?? result;
    },
    async startUpload(key, headers) {
      const upload = await memory.startUpload(key, headers);
      return {
        ...upload,
        async complete() {
          const result = await upload.complete();
          return answers.complete?.(key, result) ?? result;
        },
      };
    },
  };
}

async function deliver(
  store: ObjectStore,
  content: Buffer,
  { identity = content.length > PART ? MEDIA : TRANSCRIPT, deliveryId = 'DELIVERY' } = {},
): Promise<StoredItem | undefined> {
  const staged = archiveOver(store).archive.begin(context({ deliveryId }));
  await putItem(staged, identity, content);
  const [item] = await commit(staged).finally(() => staged.discard());
  return item;
}

describe.each([
  ['held in memory', 1000, TRANSCRIPT_KEY, 'create'],
  ['streamed', LARGE, KEY, 'complete'],
] as const)('an item %s', (_, size, key, call) => {
  it('is created when only the response to its write was lost', async () => {
    const content = randomContent(size);
    const store = answering(createMemoryStore(), { [call]: () => 'exists' });
    expect(await deliver(store, content)).toMatchObject({ key, outcome: 'created', sha256: sha256(content) });
  });

  it('is identical when another delivery wrote the same bytes at the same moment', async () => {
    const memory = createMemoryStore();
    const content = randomContent(size);
    const store = answering(memory, {
      [call]: (at: string, result: CreateResult) => {
        const stored = memory.objects.get(at);
        const { metadata } = stored?.headers ?? { metadata: {} };
        Object.assign(metadata, { 'delivery-id': 'ANOTHER' });
        return result === 'created' ? 'exists' : result;
      },
    });
    expect(await deliver(store, content)).toMatchObject({ key, outcome: 'identical' });
  });

  it('fails, to be retried, when the existing object has disappeared', async () => {
    const memory = createMemoryStore();
    const store = answering(memory, {
      [call]: (at: string) => {
        memory.objects.delete(at);
        return 'exists';
      },
    });
    await expect(deliver(store, randomContent(size))).rejects.toBeInstanceOf(StoreError);
  });
});

describe('an item whose key is taken by other bytes', () => {
  const conflictOf = (content: Buffer) => `jobs/job1/conflicts/transcript.json.${sha256(content)}`;

  it('remains a conflict when the response to that write was lost', async () => {
    const memory = createMemoryStore();
    const content = randomContent(10);
    memory.put(TRANSCRIPT_KEY, 'other');
    const store = answering(memory, { create: () => 'exists' });
    expect(await deliver(store, content)).toMatchObject({ key: conflictOf(content), outcome: 'conflict' });
  });

  it('fails when the key of its hash holds other bytes', async () => {
    const memory = createMemoryStore();
    const content = randomContent(10);
    memory.put(TRANSCRIPT_KEY, 'other');
    memory.put(conflictOf(content), 'damaged');
    await expect(deliver(answering(memory, {}), content)).rejects.toThrow('holds other bytes');
  });
});

describe('a streamed item whose key is taken', () => {
  it('is kept beside it once, whatever else of that size is kept there', async () => {
    const memory = createMemoryStore();
    const store = answering(memory, {});
    memory.put(KEY, 'first');
    const one = randomContent(LARGE);
    const other = randomContent(LARGE);
    const kept = await deliver(store, one, { deliveryId: 'ONE' });
    expect(kept).toMatchObject({ key: 'jobs/job1/conflicts/data.ONE', outcome: 'conflict' });
    expect(await deliver(store, other, { deliveryId: 'OTHER' })).toMatchObject({ outcome: 'conflict' });
    expect(await deliver(store, one, { deliveryId: 'AGAIN' })).toMatchObject({
      key: 'jobs/job1/conflicts/data.ONE',
      outcome: 'identical',
    });
    const again = memory.calls.filter(({ key }) => key.endsWith('/data.AGAIN'));
    expect(again.map(({ operation }) => operation)).not.toContain('complete');
    expect(memory.objects.has('jobs/job1/conflicts/data.AGAIN')).toBe(false);
  });

  it('is a conflict when only the response to its write was lost, and fails when the key holds other bytes', async () => {
    const memory = createMemoryStore();
    memory.put(KEY, 'first');
    const lost = answering(memory, { complete: () => 'exists' });
    expect(await deliver(lost, randomContent(LARGE), { deliveryId: 'ONE' })).toMatchObject({
      outcome: 'conflict',
    });
    const damaged = answering(memory, {
      complete: (key) => {
        memory.put(key, 'damaged');
        return 'exists';
      },
    });
    await expect(deliver(damaged, randomContent(LARGE), { deliveryId: 'TWO' })).rejects.toThrow(
      'holds other bytes',
    );
  });
});

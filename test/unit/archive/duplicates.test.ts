import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Archive } from '../../../src/archive/archive.js';
import type { StoredItem } from '../../../src/domain/item.js';
import type { ObjectStore } from '../../../src/store/object-store.js';
import {
  archiveOver,
  commit,
  context,
  putItem,
  randomContent,
  TRANSCRIPT,
} from '../../support/store/archive-fixture.js';
import { createMemoryStore, type MemoryStore } from '../../support/store/memory-store.js';

/*
 * A duplicate is compared with what its key holds: by the store's own figures where they prove the bytes, else by reading them.
 */

const KEY = 'jobs/job1/transcript.json';
const CONTENT = randomContent(500);

/** As S3 does it: a head brings the MD5 of the bytes. */
function withMd5(memory: MemoryStore): ObjectStore {
  return {
    ...memory,
    headBringsMd5: true,
    async head(key) {
      const info = await memory.head(key);
      const body = memory.objects.get(key)?.body;
      return info && body ? { ...info, md5: createHash('md5').update(body).digest('hex') } : info;
    },
  };
}

async function deliver(archive: Archive, content = CONTENT): Promise<StoredItem | undefined> {
  const staged = archive.begin(context());
  await putItem(staged, TRANSCRIPT, content);
  const [item] = await commit(staged);
  return item;
}

function setUp() {
  const memory = createMemoryStore();
  const store = withMd5(memory);
  const callsOf = async (run: () => Promise<unknown>) => {
    memory.calls.length = 0;
    await run();
    return memory.calls.map(({ operation }) => operation);
  };
  return { memory, store, archive: archiveOver(store).archive, callsOf };
}

/** Changes the object as nobody should. */
function alter(memory: MemoryStore, change: { body?: Buffer; metadata?: Record<string, string> }): void {
  const there = memory.objects.get(KEY);
  if (there === undefined) throw new Error('nothing is there');
  const headers = { ...there.headers, metadata: { ...there.headers.metadata, ...change.metadata } };
  memory.objects.set(KEY, { ...there, headers, body: change.body ?? there.body });
}

describe('a duplicate, where the store computes an MD5', () => {
  it('is identical by a rejected write and a head', async () => {
    const { archive, callsOf } = setUp();
    await deliver(archive);
    let again: StoredItem | undefined;
    expect(
      await callsOf(async () => {
        again = await deliver(archive);
      }),
    ).toEqual(['create', 'head']);
    expect(again).toMatchObject({ key: KEY, outcome: 'identical', size: CONTENT.length });
  });

  it.each([
    ['other bytes of the same size with the old SHA-256', { body: randomContent(CONTENT.length) }],
    ['other bytes of another size', { body: randomContent(9) }],
  ])('is read and kept as a conflict when its key holds %s', async (_, change) => {
    const { archive, memory } = setUp();
    await deliver(archive);
    alter(memory, change);
    const item = await deliver(archive);
    expect(item).toMatchObject({ outcome: 'conflict' });
    expect(memory.objects.get(item?.key ?? '')?.body).toEqual(CONTENT);
  });

  it('is read when the metadata has another SHA-256 than the bytes', async () => {
    const { archive, memory, callsOf } = setUp();
    await deliver(archive);
    alter(memory, { metadata: { sha256: 'f'.repeat(64) } });
    const calls = await callsOf(async () => {
      expect(await deliver(archive)).toMatchObject({ outcome: 'identical' });
    });
    expect(calls).toContain('read');
  });
});

it('a duplicate is read where the store computes nothing', async () => {
  const memory = createMemoryStore();
  const { archive } = archiveOver(memory);
  await deliver(archive);
  memory.calls.length = 0;
  expect(await deliver(archive)).toMatchObject({ outcome: 'identical' });
  expect(memory.calls.map(({ operation }) => operation)).toEqual(['create', 'read']);
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { StagedDelivery } from '../../../src/archive/archive.js';
import { eraseJob } from '../../../src/operations/actions/erase/erase-job.js';
import { type ObjectStore, StoreError } from '../../../src/store/object-store.js';
import { openStore } from '../../../src/store/open-store.js';
import {
  archiveOver,
  commit,
  context,
  keysOf,
  MEDIA,
  putItem,
  randomContent,
} from '../../support/store/archive-fixture.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/*
 * The same bytes are streamed by one delivery and held in memory by another when memory is short, or when replicas have
 * different parts. They are one conflict all the same.
 */

async function emptyPlace() {
  const folder = await temporaryFolder();
  const store = await openStore({ url: `file:${folder.path}`, partSize: 64 * 1024, fsync: false });
  return { store, dispose: () => folder.remove() };
}

type Way = 'streamed' | 'in memory';
const WAYS: readonly Way[] = ['streamed', 'in memory'];
const FIRST = 'jobs/job1/data';

describe('identical bytes of a conflict', () => {
  let place: Awaited<ReturnType<typeof emptyPlace>>;
  let content: Buffer;

  beforeEach(async () => {
    place = await emptyPlace();
    content = randomContent(place.store.partSize + 1000);
    await commit(await staged(place.store, 'in memory', randomContent(100)));
  });
  afterEach(async () => {
    await place.store.close();
    await place.dispose();
  });

  async function staged(store: ObjectStore, way: Way, bytes = content): Promise<StagedDelivery> {
    const partSize = way === 'streamed' ? store.partSize : store.partSize * 2;
    const delivery = archiveOver({ ...store, partSize }).archive.begin(context());
    await putItem(delivery, MEDIA, bytes);
    return delivery;
  }

  it.each(WAYS.flatMap((first) => WAYS.map((then) => [first, then] as const)))(
    'that came %s, then %s, are kept once',
    async (first, then) => {
      const [before] = await commit(await staged(place.store, first));
      const [after] = await commit(await staged(place.store, then));
      expect(before?.outcome).toBe('conflict');
      expect(after).toEqual({ ...before, outcome: 'identical' });
      expect(await keysOf(place.store, 'jobs/')).toEqual([before?.key, FIRST].sort());
    },
  );

  it('that come both ways at once are kept once, all but one delivery report them as identical, and an erasure leaves nothing', async () => {
    const ways = ['in memory', 'streamed', 'streamed', 'in memory'] as const;
    const store = stepByStep(place.store, ways.length);
    const deliveries = await Promise.all(ways.map((way) => staged(store, way)));
    const items = (await Promise.all(deliveries.map((delivery) => commit(delivery)))).flat();
    const outcomes = items.map(({ outcome }) => outcome).sort();
    expect(outcomes).toEqual(['conflict', 'identical', 'identical', 'identical']);
    const [kept] = items.map(({ key }) => key);
    expect(new Set(items.map(({ key }) => key))).toEqual(new Set([kept]));
    expect(await keysOf(place.store, 'jobs/')).toEqual([kept, FIRST].sort());
    const ledger = { append: async () => undefined };
    const parts = { store: place.store, keyPrefixes: [''], sleep: async () => undefined, ledger };
    await eraseJob(parts, 'job1', { actor: 'tester', reason: null });
    for (const prefix of ['jobs/', '.conflicts/']) expect(await keysOf(place.store, prefix)).toEqual([]);
  });

  it('that come both ways at once are answered also where nothing may be deleted', async () => {
    const denied = () => Promise.reject(new StoreError('delete', 'denied'));
    const store = stepByStep({ ...place.store, delete: denied }, 2);
    const deliveries = await Promise.all(WAYS.map((way) => staged(store, way)));
    const items = (await Promise.all(deliveries.map((delivery) => commit(delivery)))).flat();
    expect(items.map(({ outcome }) => outcome).sort()).toEqual(['conflict', 'identical']);
  });

  it('stay where the claim says when the copy of another delivery is removed while it is being read', async () => {
    const streamed = await staged(place.store, 'streamed');
    const store: ObjectStore = {
      ...place.store,
      async create(key, body, headers) {
        if (!key.startsWith('jobs/job1/conflicts/')) return place.store.create(key, body, headers);
        // Another delivery wrote the same key, lost the claim to the streamed one, and removed its own copy.
        await commit(streamed);
        return 'exists';
      },
    };
    const [item] = await commit(await staged(store, 'in memory'));
    expect(item).toMatchObject({ outcome: 'identical' });
    expect(await keysOf(place.store, 'jobs/')).toEqual([item?.key, FIRST].sort());
  });
});

/** All deliveries look for an earlier copy before any writes its own, and have written it before any claims it. */
function stepByStep(store: ObjectStore, deliveries: number): ObjectStore {
  const looked = meeting(deliveries);
  const written = meeting(deliveries);
  async function write<T>(key: string, run: () => Promise<T>): Promise<T> {
    if (!key.startsWith('jobs/job1/conflicts/')) return run();
    await looked();
    const result = await run();
    await written();
    return result;
  }
  return {
    ...store,
    create: (key, body, headers) => write(key, () => store.create(key, body, headers)),
    async startUpload(key, headers) {
      const upload = await store.startUpload(key, headers);
      return { ...upload, complete: () => write(key, () => upload.complete()) };
    },
  };
}

/** Resolves for everybody once `count` have come. */
function meeting(count: number): () => Promise<void> {
  let come = 0;
  const { promise: everybody, resolve: release } = Promise.withResolvers<void>();
  return () => {
    come += 1;
    if (come === count) release();
    return everybody;
  };
}

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { StagedDelivery } from '../../../src/archive/archive.js';
import { eraseJob } from '../../../src/operations/actions/erase/erase-job.js';
import type { ObjectStore } from '../../../src/store/object-store.js';
import { openStore } from '../../../src/store/open-store.js';
import {
  archiveOver,
  commit,
  context,
  keysOf,
  MEDIA,
  putItem,
  randomContent,
  readAll,
} from '../../support/store/archive-fixture.js';
import { openStandInPlace, PART } from '../../support/store/stand-in-store.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

interface Place {
  readonly store: ObjectStore;
  dispose(): Promise<void>;
}

async function onFiles(): Promise<Place> {
  const folder = await temporaryFolder();
  const store = await openStore({ url: `file:${folder.path}`, partSize: 64 * 1024, fsync: false });
  return { store, dispose: () => folder.remove() };
}

async function onS3(): Promise<Place> {
  const { standIn, options } = await openStandInPlace();
  const store = await openStore({ ...options, partSize: PART });
  return { store, dispose: () => standIn.close() };
}

/** Uploads are completed only once `count` deliveries have come so far, each in the belief to be alone. */
function allAtOnce(store: ObjectStore, count: number): ObjectStore {
  let arrived = 0;
  let release: () => void = () => undefined;
  const everybody = new Promise<void>((resolve) => {
    release = resolve;
  });
  return {
    ...store,
    async startUpload(key, headers) {
      const upload = await store.startUpload(key, headers);
      return {
        ...upload,
        async complete() {
          arrived += 1;
          if (arrived === count) release();
          await everybody;
          return upload.complete();
        },
      };
    },
  };
}

const AT_ONCE = 4;
const FIRST = 'jobs/job1/data';

describe.each([
  ['files', onFiles],
  ['S3', onS3],
])('a streamed conflict that comes several times at once, on %s', (_, open) => {
  let place: Place;
  let second: Buffer;

  beforeEach(async () => {
    place = await open();
    const large = place.store.partSize + 1000;
    second = randomContent(large);
    await commit(await staged(place.store, randomContent(large)));
  });
  afterEach(async () => {
    await place.store.close();
    await place.dispose();
  });

  async function staged(store: ObjectStore, content: Buffer): Promise<StagedDelivery> {
    const delivery = archiveOver(store).archive.begin(context());
    await putItem(delivery, MEDIA, content);
    return delivery;
  }

  async function deliverAtOnce() {
    const store = allAtOnce(place.store, AT_ONCE);
    const deliveries = await Promise.all(Array.from({ length: AT_ONCE }, () => staged(store, second)));
    return (await Promise.all(deliveries.map((delivery) => commit(delivery)))).flat();
  }

  it('is kept once, and every delivery reports its key', async () => {
    const items = await deliverAtOnce();
    const [, kept = ''] = (await keysOf(place.store)).reverse();
    expect(await keysOf(place.store)).toEqual([kept, FIRST]);
    expect(items.map(({ key }) => key)).toEqual(Array(AT_ONCE).fill(kept));
    expect(items.map(({ outcome }) => outcome).sort()).toEqual([
      'conflict',
      ...Array(AT_ONCE - 1).fill('identical'),
    ]);
    expect((await readAll(place.store, kept))?.equals(second)).toBe(true);
    const [again] = await commit(await staged(place.store, second));
    expect(again).toMatchObject({ key: kept, outcome: 'identical' });
  });

  it('leaves nothing when the job is erased', async () => {
    await deliverAtOnce();
    const append = async () => undefined;
    await eraseJob(
      { store: place.store, keyPrefixes: [''], sleep: async () => {}, ledger: { append } },
      'job1',
      {
        actor: 'tester',
        reason: null,
      },
    );
    expect(await keysOf(place.store)).toEqual([]);
    for await (const { key } of place.store.list('.conflicts/')) throw new Error(`${key} was left`);
  });
});

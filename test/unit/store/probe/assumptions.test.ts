import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { probeListing } from '../../../../src/store/probe/probe-listing.js';
import { probeLives } from '../../../../src/store/probe/probe-lives.js';
import { probeStore } from '../../../../src/store/probe/probe-store.js';
import { proveStore, WeakStoreError } from '../../../../src/store/probe/store-proof.js';
import { UNFIT, USABLE } from '../../../support/store/s3-quirks.js';
import { openStandInStore, type StandInStore } from '../../../support/store/stand-in-store.js';

describe('a server that differs from S3 in', () => {
  let place: StandInStore;
  beforeEach(async () => {
    place = await openStandInStore({ retries: 0 });
  });
  afterEach(() => place.close());

  const prove = () =>
    proveStore({
      location: 's3://bucket/',
      probe: () => probeStore(place.store),
      acceptWeak: true,
      identify: place.store.begin,
    });

  /** What the probe does after the races of writers, which take most of its requests. */
  async function listAndDelete(): Promise<string | null> {
    const folder = '.probe/alone/';
    const probed = {
      ...{ folder, store: place.store, keys: [], uploads: [] },
      ...{ headers: { contentType: 'text/plain', metadata: {} }, newKey: (name: string) => folder + name },
    };
    return (await probeListing(probed)) ?? (await probeLives(probed));
  }

  const BEFORE_THE_RACES = ['no conditions', 'writes without an ETag', 'other bytes', 'no metadata'];

  it.each(Object.entries(UNFIT))('%s is refused by name', async (name, [quirk, message]) => {
    place.standIn.quirk = quirk;
    const isEarly = BEFORE_THE_RACES.includes(name);
    const said = await (isEarly ? prove() : listAndDelete()).catch((error: Error) => error.message);
    expect(said).toMatch(message);
  });

  it.each(['listings by hash', 'no StartAfter', 'no Delimiter', 'uploads that are not listed'])(
    '%s ends the start, for it does not pass',
    async (name) => {
      const [quirk = null, message = ''] = UNFIT[name] ?? [];
      place.standIn.quirk = quirk;
      const refused = await prove().catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(WeakStoreError);
      expect((refused as Error).message).toMatch(message);
    },
  );

  it.each(Object.entries(USABLE))('%s is used', async (_, quirk) => {
    place.standIn.quirk = quirk;
    await expect(prove()).resolves.toBeNull();
    const { store, standIn } = place;
    const headers = { contentType: 'text/plain', metadata: {} };
    expect(await store.create('jobs/a/data', Buffer.from('a'), headers)).toBe('created');
    expect(await store.create('jobs/a/data', Buffer.from('b'), headers)).toBe('exists');
    const upload = await store.startUpload('jobs/a/large', headers);
    await upload.write(Buffer.from('large'));
    expect(await upload.complete()).toBe('created');
    await store.startUpload('jobs/a/given-up', headers);
    expect(await store.abortUploads('jobs/a/')).toBe(1);
    // As an erasure does: until nothing is found.
    const purged: (string | null)[] = [];
    for await (const { kept } of store.purge('jobs/a/')) purged.push(kept?.reason ?? null);
    expect(purged).toEqual([null, null]);
    for await (const { key } of store.purge('jobs/a/')) expect(key).toBe('nothing');
    expect([...standIn.state.objects.keys()]).toEqual([expect.stringMatching(/\.store\/marker\.json$/)]);
    expect(standIn.state.uploads.size).toBe(0);
  });

  it('nothing is probed with few requests, and left as it was', async () => {
    expect((await probeStore(place.store)).trustworthy).toBe(true);
    const { requests, state } = place.standIn;
    const ofListing = requests.filter(({ key }) => key.includes('/listing/')).length;
    expect(ofListing).toBe(24);
    expect(requests.length).toBeLessThan(260);
    expect(state.objects.size + state.uploads.size).toBe(0);
  });
});

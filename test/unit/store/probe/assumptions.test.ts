import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
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

  /** With as few races of writers as on files: they take most of the requests, and no difference shows in them. */
  const prove = () =>
    proveStore({
      location: 's3://bucket/',
      probe: () => probeStore({ ...place.store, location: 'file:' }),
      acceptWeak: true,
      identify: place.store.begin,
    });

  /** Ends the start: no later attempt finds anything else. */
  const ENDS_THE_START = ['listings by hash', 'no StartAfter', 'no Delimiter', 'uploads that are not listed'];

  it.each(Object.entries(UNFIT))('%s is refused by name', async (name, [quirk, message]) => {
    place.standIn.quirk = quirk;
    const said = await prove().catch((error: Error) => error);
    expect(said instanceof Error ? said.message : said).toMatch(message);
    if (ENDS_THE_START.includes(name)) expect(said).toBeInstanceOf(WeakStoreError);
  });

  const usable = Object.keys(USABLE);

  /** Every fourth at once: those of one operation, of which a server has one, are neighbours. */
  const SERVERS = [0, 1, 2, 3].map((rest) => usable.filter((_, n) => n % 4 === rest));

  it.each(SERVERS.map((names) => [names.join(', '), names] as const))('%s is used', async (_, names) => {
    place.standIn.quirk = (request, proper) =>
      names.reduce<typeof proper>(
        (next, name) => (asked) => USABLE[name]?.(asked, next) ?? next(asked),
        proper,
      )(request);
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
    const purged = await Array.fromAsync(store.purge('jobs/a/'), ({ kept }) => kept?.reason ?? null);
    expect(purged).toEqual([null, null]);
    for await (const { key } of store.purge('jobs/a/')) expect(key).toBe('nothing');
    expect([...standIn.state.objects.keys()]).toEqual([expect.stringMatching(/\.store\/marker\.json$/)]);
    expect(standIn.state.uploads.size).toBe(0);
  });

  it('nothing is probed with few requests, and left as it was', async () => {
    const holds = { conditionalPut: 'holds', conditionalComplete: 'holds' };
    const expected = { writable: true, ...holds, trustworthy: true, findings: { length: 3 } };
    expect(await probeStore(place.store)).toMatchObject(expected);
    const { requests, state } = place.standIn;
    const ofListing = requests.filter(({ key }) => key.includes('/listing/')).length;
    expect(ofListing).toBe(24);
    expect(requests.length).toBeLessThan(260);
    expect(state.objects.size + state.uploads.size).toBe(0);
  });
});

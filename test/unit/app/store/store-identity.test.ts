import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createStoreIdentity } from '../../../../src/app/store/store-identity.js';
import { OtherStoreError, StoreError } from '../../../../src/store/object-store.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

/** A store whose marker a test changes, and the events that were logged. */
function place({ id = 'first' as string | null, isPinned = false } = {}) {
  const events: string[] = [];
  const state: { id: string | null; fault: Error | null } = { id, fault: null };
  const identity = createStoreIdentity(
    {
      location: 's3://bucket/',
      async identity() {
        if (state.fault !== null) throw state.fault;
        return state.id;
      },
      async begin() {
        state.id ??= 'begun';
        return state.id;
      },
    },
    isPinned,
    folder.path,
    { warn: ({ event }: { event: string }) => events.push(event) } as never,
  );
  return { identity, state, events };
}

describe('which store it is', () => {
  it('says which one this machine remembers, as long as it runs', async () => {
    await place().identity.begin();
    const { identity, events } = place({ id: 'second' });
    await identity.begin();
    await identity.check();
    expect(identity.issues()).toMatchObject([{ params: { was: 'first', is: 'second' } }]);
    expect(events).toEqual(['store-replaced']);
  });

  it('notices that the marker goes, is another one, and is back, and logs each once', async () => {
    const { identity, state, events } = place();
    await identity.begin();
    const seen = async (id: string | null) => {
      state.id = id;
      await identity.check();
      await identity.check();
      return identity.issues().map(({ params }) => params.is);
    };
    expect(await seen('first')).toEqual([]);
    expect(await seen(null)).toEqual([null]);
    expect(await seen('other')).toEqual(['other']);
    expect(await seen('first')).toEqual([]);
    expect(events).toEqual(['store-replaced', 'store-replaced']);
  });

  it('knows nothing before the store was begun, and warns of one that is new', async () => {
    const { identity, events } = place({ id: null });
    await identity.check();
    expect(identity.issues()).toEqual([]);
    await identity.begin();
    expect(events).toEqual(['store-begun']);
  });

  it('throws for one that is not the pinned one, and takes a marker that cannot be read for nothing', async () => {
    const { identity, state } = place({ isPinned: true });
    await identity.begin();
    state.fault = new StoreError('read', 'access denied', { condition: 'denied' });
    await identity.check();
    expect(identity.issues()).toEqual([]);
    state.fault = new OtherStoreError('s3://bucket/', 'other', 'first');
    await expect(identity.check()).rejects.toThrow(OtherStoreError);
    state.fault = null;
    await identity.check();
    expect(identity.issues()).toEqual([]);
  });
});

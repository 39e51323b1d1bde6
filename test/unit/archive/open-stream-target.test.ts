import { describe, expect, it } from '@jest/globals';
import { openStreamTarget } from '../../../src/archive/open-stream-target.js';
import { type ObjectStore, StoreError } from '../../../src/store/object-store.js';
import { context, MEDIA } from '../../support/store/archive-fixture.js';
import { createMemoryStore } from '../../support/store/memory-store.js';

const KEY = 'jobs/job1/data';
const ITEM = { identity: MEDIA, sha256: null, fileName: undefined };

/** A memory store that records which uploads were opened and aborted. */
function recordingStore(over: Partial<ObjectStore> = {}) {
  const memory = createMemoryStore();
  const uploads = { opened: [] as string[], aborted: [] as string[] };
  const store: ObjectStore = {
    ...memory,
    async startUpload(key, headers) {
      uploads.opened.push(key);
      const upload = await memory.startUpload(key, headers);
      return { ...upload, abort: async () => void uploads.aborted.push(key) };
    },
    ...over,
  };
  return { memory, store, uploads };
}

const open = (store: ObjectStore, claimed: string[] = []) =>
  openStreamTarget(store, context({ deliveryId: 'DELIVERY' }), ITEM, claimed);

describe('the upload of a streamed item', () => {
  it('is opened while the store is asked whether its key is free', async () => {
    const { promise: opened, resolve: isOpened } = Promise.withResolvers<void>();
    const { memory, store } = recordingStore();
    const target = await open({
      ...store,
      head: (key) => opened.then(() => memory.head(key)),
      startUpload(key, headers) {
        isOpened();
        return store.startUpload(key, headers);
      },
    });
    expect(target).toMatchObject({ key: KEY, isConflict: false });
  });

  it('is aborted when the store does not say whether its key is free', async () => {
    const away = new StoreError('head', 'away');
    const { store, uploads } = recordingStore({ head: () => Promise.reject(away) });
    await expect(open(store)).rejects.toBe(away);
    expect(uploads).toEqual({ opened: [KEY], aborted: [KEY] });
  });

  it('fails when it cannot be opened though its key is free', async () => {
    const away = new StoreError('startUpload', 'away');
    const { store, uploads } = recordingStore();
    const failing: ObjectStore = {
      ...store,
      startUpload: (key, headers) => (key === KEY ? Promise.reject(away) : store.startUpload(key, headers)),
    };
    await expect(open(failing)).rejects.toBe(away);
    // Beside it, it would be the conflict of nothing.
    expect(uploads.opened).toEqual([]);
  });

  it('has a key of its own while that of another item of the same name is being opened', async () => {
    const { store } = recordingStore();
    const claimed: string[] = [];
    const targets = await Promise.all([open(store, claimed), open(store, claimed)]);
    expect(targets.map(({ isConflict }) => isConflict)).toEqual([false, true]);
    expect(targets[0].key).not.toBe(targets[1].key);
  });
});

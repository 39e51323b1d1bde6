import { randomUUID } from 'node:crypto';
import { assertPinned } from '../assert-pinned.js';
import { type ObjectStore, StoreError } from '../object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../read-document.js';

/** Holds the id of the store; a dot-folder, so that no listing shows it. */
const MARKER = '.store/marker.json';

/** The marker of a store in a bucket, which a file store has at its root. */
export function createS3Marker(
  store: Pick<ObjectStore, 'location' | 'read' | 'create'>,
  pinned: string | null,
): Pick<ObjectStore, 'identity' | 'begin'> {
  async function identity(): Promise<string | null> {
    const document = await readDocument(store, MARKER);
    const id = typeof document?.store === 'string' ? document.store : null;
    assertPinned(store.location, id, pinned);
    return id;
  }

  return {
    identity,
    async begin() {
      const before = await identity();
      if (before !== null) return before;
      // Another process may do the same: the first one wins.
      await store.create(
        MARKER,
        Buffer.from(`${JSON.stringify({ store: randomUUID() })}\n`),
        DOCUMENT_HEADERS,
      );
      const id = await identity();
      if (id === null)
        throw new StoreError('open', `${MARKER} is not a marker of a store: restore it from a backup`);
      return id;
    },
  };
}

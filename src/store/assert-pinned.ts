import { OtherStoreError, StoreGoneError } from './object-store.js';

/** Throws when a store is not the one that `store.id` pins; null pins none. */
export function assertPinned(location: string, found: string | null, pinned: string | null): void {
  if (pinned === null || found === pinned) return;
  if (found !== null) throw new OtherStoreError(location, found, pinned);
  throw new StoreGoneError(
    `${location} holds no store, and store.id is ${pinned}: bring the store back (mount its volume) or correct store.url`,
  );
}

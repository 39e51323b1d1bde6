import { endedPauseKey, outboxClaimKey, outboxStateKey } from '../archive/layout.js';
import { type ObjectStore, StoreError } from '../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../store/read-document.js';
import { type ClaimSequence, createClaimSequence } from '../store/take-over.js';
import { MAX_STATE_BYTES, type OutboxState } from './outbox-state.js';

/** State and claims of a subscriber's sender. Methods throw `StoreError`. */
export interface OutboxStore extends ClaimSequence {
  read(): Promise<OutboxState | null>;
  /** Writes the state. Only the replica that holds the latest claim may call it. */
  save(state: OutboxState): Promise<void>;
  /** Name of the replica that made the claim; null without the claim. */
  claimant(claim: number): Promise<string | null>;
  /** Tells the sender, which may be another process, that the address works: its pause, if there is one, ends. */
  endPause(): Promise<void>;
  /** `openSince` of the pause that was ended last; null without one. */
  endedPause(): Promise<string | null>;
}

/** Starting from now in place of the damaged state would leave out every event since. */
export class DamagedStateError extends StoreError {
  constructor(key: string) {
    super('read', `${key} is damaged, or of a newer version`);
    this.name = 'DamagedStateError';
  }
}

export function createOutboxStore(store: ObjectStore, subscriber: string): OutboxStore {
  const key = outboxStateKey(subscriber);

  async function read(): Promise<OutboxState | null> {
    let document = await readDocument(store, key, MAX_STATE_BYTES);
    if (document === null) {
      if ((await store.head(key)) === null) return null;
      // The first sender may have saved it between the two calls.
      document = await readDocument(store, key, MAX_STATE_BYTES);
    }
    if (document?.v === 1) return document as unknown as OutboxState;
    throw new DamagedStateError(key);
  }

  const claims = createClaimSequence(
    store,
    (number) => outboxClaimKey(subscriber, number),
    async () => (await read())?.claim ?? 0,
  );

  return {
    ...claims,
    read,
    save: (state) => store.replace(key, Buffer.from(JSON.stringify(state)), DOCUMENT_HEADERS),
    async claimant(claim) {
      const document = await readDocument(store, outboxClaimKey(subscriber, claim));
      return typeof document?.owner === 'string' ? document.owner : null;
    },
    async endPause() {
      const openSince = (await read())?.openSince ?? null;
      if (openSince === null) return;
      await store.replace(
        endedPauseKey(subscriber),
        Buffer.from(JSON.stringify({ openSince })),
        DOCUMENT_HEADERS,
      );
    },
    async endedPause() {
      const document = await readDocument(store, endedPauseKey(subscriber));
      return typeof document?.openSince === 'string' ? document.openSince : null;
    },
  };
}

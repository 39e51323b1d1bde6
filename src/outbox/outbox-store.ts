import { randomUUID } from 'node:crypto';
import { outboxClaimKey, outboxStateKey } from '../archive/layout.js';
import { type ObjectStore, StoreError } from '../store/object-store.js';
import { readDocument } from '../store/read-document.js';
import { createClaim } from '../store/take-over.js';
import { MAX_STATE_BYTES, type OutboxState } from './outbox-state.js';

/** State and claims of a subscriber's sender. Methods throw `StoreError`. */
export interface OutboxStore {
  read(): Promise<OutboxState | null>;
  /** Only for the replica that holds the latest claim. */
  save(state: OutboxState): Promise<void>;
  /** Creates the claim; false when another replica did, or has claimed since the state was read. */
  claim(claim: number, owner: string): Promise<boolean>;
  /** Whether a later claim than this one was made. */
  isSuperseded(claim: number): Promise<boolean>;
  /** Name of the replica that made the claim; null without the claim. */
  claimant(claim: number): Promise<string | null>;
}

/** Claims that are kept: a replica that was suspended for that many take-overs still finds its claim taken. */
const CLAIMS_KEPT = 16;

const HEADERS = { contentType: 'application/json', metadata: {} } as const;

export function createOutboxStore(store: ObjectStore, subscriber: string): OutboxStore {
  const key = outboxStateKey(subscriber);
  const mark = randomUUID();

  async function read(): Promise<OutboxState | null> {
    let document = await readDocument(store, key, MAX_STATE_BYTES);
    if (document === null) {
      if ((await store.head(key)) === null) return null;
      // The first sender may have saved it between the two calls.
      document = await readDocument(store, key, MAX_STATE_BYTES);
    }
    if (document?.v === 1) return document as unknown as OutboxState;
    // Beginning anew would leave out every event since.
    throw new StoreError('read', `${key} is damaged, or of a newer version`);
  }

  return {
    read,
    save: (state) => store.replace(key, Buffer.from(JSON.stringify(state)), HEADERS),
    async claim(claim, owner) {
      if (!(await createClaim(store, outboxClaimKey(subscriber, claim), owner, mark))) return false;
      if (claim > CLAIMS_KEPT) await store.delete(outboxClaimKey(subscriber, claim - CLAIMS_KEPT));
      // The claim of this number may have been deleted, long after another replica made it.
      const state = await read();
      return (state?.claim ?? 0) === claim - 1;
    },
    async claimant(claim) {
      const document = await readDocument(store, outboxClaimKey(subscriber, claim));
      return typeof document?.owner === 'string' ? document.owner : null;
    },
    isSuperseded: async (claim) => (await store.head(outboxClaimKey(subscriber, claim + 1))) !== null,
  };
}

import { randomUUID } from 'node:crypto';
import {
  claimsPrefix,
  endedPauseKey,
  outboxClaimKey,
  outboxStateKey,
  waitingFolder,
} from '../archive/layout.js';
import { sentFolder } from '../ledger/ledger-keys.js';
import { createClaim } from '../store/create-claim.js';
import { type ObjectStore, StoreError } from '../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../store/read-document.js';
import { isOutboxState, MAX_STATE_BYTES, type OutboxState, type WaitingEvent } from './outbox-state.js';

export type OutboxStore = ReturnType<typeof createOutboxStore>;

/** Claims kept: a replica that was suspended during up to this many take-overs still sees that its claim was superseded. */
const CLAIMS_KEPT = 16;

/** An error rather than a new start: one from now on would skip every event since the lost state. */
export class DamagedStateError extends StoreError {
  constructor(key: string) {
    super('read', `${key} is gone, damaged, or of a newer version`);
    this.name = 'DamagedStateError';
  }
}

/** State, waiting events and claims of a subscriber's sender. Methods throw `StoreError`. */
export function createOutboxStore(store: ObjectStore, subscriber: string) {
  const key = outboxStateKey(subscriber);
  const claimKey = (number: number) => outboxClaimKey(subscriber, number);
  const batchKey = (name: string) => `${waitingFolder(subscriber)}${name}.json`;
  const mark = randomUUID();

  async function saved(): Promise<OutboxState | null> {
    let document = await readDocument(store, key, MAX_STATE_BYTES);
    if (document === null) {
      if ((await store.head(key)) === null) return null;
      // The first sender may have saved it between the two calls.
      document = await readDocument(store, key, MAX_STATE_BYTES);
    }
    if (document !== null && isOutboxState(document)) return document as unknown as OutboxState;
    throw new DamagedStateError(key);
  }

  /** Whether a state must have existed: there was a take-over, or the first sender has sent events. */
  async function hadState(): Promise<boolean> {
    let isClaimed = false;
    for await (const claim of store.keys(claimsPrefix(subscriber), { limit: 2 })) {
      if (claim !== claimKey(1)) return true;
      isClaimed = true;
    }
    if (isClaimed) for await (const _ of store.keys(sentFolder(subscriber), { limit: 1 })) return true;
    return false;
  }

  async function read(): Promise<OutboxState | null> {
    const state = await saved();
    if (state === null && (await hadState())) throw new DamagedStateError(key);
    return state;
  }

  return {
    read,
    /**
     * Creates the claim that follows this state, and reads the state once more: its sender may have saved it until then, but from now on it
     * deletes no batches that it names. Null when another replica was faster.
     */
    async claim(state: OutboxState, owner: string): Promise<OutboxState | null> {
      const number = state.claim + 1;
      if (!(await createClaim(store, claimKey(number), owner, mark))) return null;
      // An old claim may stay: a bucket that denies deletes must not hold up events.
      if (number > CLAIMS_KEPT) await store.delete(claimKey(number - CLAIMS_KEPT)).catch(() => undefined);
      const last = (await saved()) ?? state;
      // Another replica may have made the claim of this number long ago, so that it has been deleted.
      return last.claim === state.claim ? last : null;
    },
    /** Whether a later claim than this one was made. */
    isSuperseded: async (number: number) => (await store.head(claimKey(number + 1))) !== null,
    /** Writes the state. Only the replica that holds the latest claim may call it. */
    save: (state: OutboxState) => store.replace(key, Buffer.from(JSON.stringify(state)), DOCUMENT_HEADERS),
    /** Writes a batch, which takes effect once a saved state names it. */
    saveBatch: (name: string, events: readonly WaitingEvent[]) =>
      store.replace(batchKey(name), Buffer.from(JSON.stringify({ v: 1, events })), DOCUMENT_HEADERS),
    /** Null when it is missing or damaged. */
    async readBatch(name: string): Promise<readonly WaitingEvent[] | null> {
      const document = await readDocument(store, batchKey(name), MAX_STATE_BYTES);
      return Array.isArray(document?.events) ? document.events : null;
    },
    deleteBatch: (name: string) => store.delete(batchKey(name)),
    /** Deletes batches of earlier claims that a claimed state does not name: their writer died before it saved or after it dropped them. */
    async deleteOtherBatches({ claim, batches }: OutboxState): Promise<void> {
      const named = new Set(batches.map(({ name }) => batchKey(name)));
      const folder = waitingFolder(subscriber);
      const isEarlier = (key: string) => Number.parseInt(key.slice(folder.length), 10) < claim;
      for await (const key of store.keys(folder))
        if (!named.has(key) && isEarlier(key)) await store.delete(key);
    },
    /** Name of the replica that made the claim; null without the claim. */
    async claimant(claim: number): Promise<string | null> {
      const document = await readDocument(store, claimKey(claim));
      return typeof document?.owner === 'string' ? document.owner : null;
    },
    /** Ends a pause of the sender, which may be another process, because the address works. */
    async endPause(): Promise<void> {
      const openSince = (await read())?.openSince ?? null;
      if (openSince === null) return;
      await store.replace(
        endedPauseKey(subscriber),
        Buffer.from(JSON.stringify({ openSince })),
        DOCUMENT_HEADERS,
      );
    },
    /** `openSince` of the last pause that `endPause` ended; null without one. */
    async endedPause(): Promise<string | null> {
      const document = await readDocument(store, endedPauseKey(subscriber));
      return typeof document?.openSince === 'string' ? document.openSince : null;
    },
  };
}

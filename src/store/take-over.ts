import { randomUUID } from 'node:crypto';
import type { Claimed, LeaseWatch } from './lease-watch.js';
import type { ObjectStore } from './object-store.js';
import { DOCUMENT_HEADERS, readDocument } from './read-document.js';

/**
 * Creates the object of a claim, a conditional write; false when another replica did.
 *
 * @param mark unique to the claimant; the same one finds its own claim again when its answer was lost or what followed failed
 */
export async function createClaim(
  store: ObjectStore,
  key: string,
  owner: string,
  mark: string = randomUUID(),
): Promise<boolean> {
  const body = Buffer.from(JSON.stringify({ owner, mark }));
  if ((await store.create(key, body, DOCUMENT_HEADERS)) === 'created') return true;
  // `exists` may be our own write whose answer was lost.
  return (await readDocument(store, key))?.mark === mark;
}

/** Numbered claims of work that is taken over again and again; each is an object of its own. Methods throw `StoreError`. */
export interface ClaimSequence {
  /** Creates the claim; false when another replica did, or has claimed since the state was read. */
  claim(number: number, owner: string): Promise<boolean>;
  /** Whether a later claim than this one was made. */
  isSuperseded(number: number): Promise<boolean>;
}

/** Claims that are kept: a replica that was suspended for that many take-overs still finds its claim taken. */
const CLAIMS_KEPT = 16;

/** @param readLatest reads the number of the claim that the saved state names; 0 without one */
export function createClaimSequence(
  store: ObjectStore,
  keyOf: (number: number) => string,
  readLatest: () => Promise<number>,
): ClaimSequence {
  const mark = randomUUID();
  return {
    async claim(number, owner) {
      if (!(await createClaim(store, keyOf(number), owner, mark))) return false;
      if (number > CLAIMS_KEPT) await store.delete(keyOf(number - CLAIMS_KEPT));
      // The claim of this number may have been deleted, long after another replica made it.
      return (await readLatest()) === number - 1;
    },
    isSuperseded: async (number) => (await store.head(keyOf(number + 1))) !== null,
  };
}

/** Work that one replica at a time carries out. */
export interface ClaimableWork<State extends Claimed> {
  readonly name: string;
  /** Name of this replica. */
  readonly owner: string;
  readonly leases: LeaseWatch;
  /** Creates the claim of this number; false when another replica did. */
  claim(number: number): Promise<boolean>;
  save(state: State): Promise<void>;
}

/**
 * Claims work that no replica carries out, so that this one may. Null while its owner is alive, and when another replica
 * was faster: a claim is a conditional write.
 */
export async function takeOver<State extends Claimed>(
  { name, owner, leases, claim: createClaimOf, save }: ClaimableWork<State>,
  state: State,
): Promise<State | null> {
  if (!leases.isAbandoned(name, state)) return null;
  const claim = state.claim + 1;
  if (!(await createClaimOf(claim))) {
    // The replica that made this claim may have died before it saved a state. After a lease the claim is skipped.
    if (leases.isClaimDead(name, claim)) await save({ ...state, claim, heartbeatAt: null });
    return null;
  }
  const claimed = { ...state, claim, owner, heartbeatAt: new Date().toISOString() };
  await save(claimed);
  return claimed;
}

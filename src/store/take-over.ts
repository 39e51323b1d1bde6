import { randomUUID } from 'node:crypto';
import type { Claimed, LeaseWatch } from './lease-watch.js';
import type { ObjectStore } from './object-store.js';
import { readDocument } from './read-document.js';

const HEADERS = { contentType: 'application/json', metadata: {} } as const;

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
  if ((await store.create(key, body, HEADERS)) === 'created') return true;
  // `exists` may be our own write whose answer was lost.
  return (await readDocument(store, key))?.mark === mark;
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

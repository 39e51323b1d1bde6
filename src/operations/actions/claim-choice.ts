import type { ArtefactPlace } from '../../archive/erasure/artefact-versions.js';
import { conflictClaims } from '../../archive/layout.js';
import { Problem } from '../../domain/problem.js';
import { createClaim } from '../../store/create-claim.js';
import type { ListedObject, ObjectStore } from '../../store/object-store.js';
import { readDocument } from '../../store/read-document.js';

/** Milliseconds after which a claim expires, because its process died. Copies of many gigabytes take minutes. */
const CLAIM_LIFETIME = 10 * 60_000;

export interface ChoiceClaim {
  release(): Promise<void>;
}

/**
 * Claims the choice between versions of one artefact, so that two operators cannot choose different ones at once, even on stores that
 * compare and replace in two steps. A choice of the same version reuses the existing claim, so that a failed attempt can be repeated at
 * once.
 *
 * Rejects with `conflict` while another version is being chosen.
 */
export async function claimChoice(
  store: ObjectStore,
  { folder, path }: ArtefactPlace,
  chosen: string,
): Promise<ChoiceClaim> {
  const claims = `${conflictClaims(folder)}choices/${path.slice(path.lastIndexOf('/') + 1)}/`;
  const last = await lastClaim(store, claims);
  const number = last === null ? 1 : numberOf(last.key) + 1;
  const key = `${claims}${String(number).padStart(6, '0')}`;
  if (last !== null && (await readDocument(store, last.key))?.owner === chosen) return held(store, last.key);
  if (last !== null && isHeld(store, last)) throw busy();
  if (!(await createClaim(store, key, chosen))) throw busy();
  return held(store, key);
}

/** By the store's clock; a claim from the future, made before that clock was set back, also expires. */
function isHeld(store: ObjectStore, { modifiedAt }: ListedObject): boolean {
  return Math.abs(Date.now() + store.clockOffset() - modifiedAt.getTime()) < CLAIM_LIFETIME;
}

function held(store: ObjectStore, key: string): ChoiceClaim {
  return { release: () => store.delete(key) };
}

async function lastClaim(store: ObjectStore, folder: string): Promise<ListedObject | null> {
  let last: ListedObject | null = null;
  for await (const claim of store.list(folder)) last = claim;
  return last;
}

function numberOf(key: string): number {
  return Number(key.slice(key.lastIndexOf('/') + 1));
}

function busy(): Problem {
  return new Problem(
    'conflict',
    'Another operator is choosing between the versions of this artefact: look at the job again in some minutes.',
  );
}

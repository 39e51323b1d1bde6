import { randomUUID } from 'node:crypto';
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

import { randomUUID } from 'node:crypto';
import type { ObjectStore } from './object-store.js';
import { DOCUMENT_HEADERS, readDocument } from './read-document.js';

/**
 * Creates the object of a claim by a conditional write; false when another replica has it.
 *
 * @param mark unique to the claimant, so that it recognises its own claim after a lost answer or a later failure
 */
export async function createClaim(
  store: ObjectStore,
  key: string,
  owner: string,
  mark: string = randomUUID(),
): Promise<boolean> {
  const body = Buffer.from(JSON.stringify({ owner, mark }));
  if ((await store.create(key, body, DOCUMENT_HEADERS)) === 'created') return true;
  // `exists` may mean this call's own write, whose answer was lost.
  return (await readDocument(store, key))?.mark === mark;
}

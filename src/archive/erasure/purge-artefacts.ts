import type { ObjectStore, PurgedObject } from '../../store/object-store.js';
import { conflictClaims, jobFolder } from '../layout.js';

/**
 * Removes a job's folder, and the claims of its conflicts, which contain hashes of the removed bytes. One pass, like
 * `ObjectStore.purge`.
 */
export async function* purgeArtefacts(
  store: ObjectStore,
  keyPrefix: string,
  jobId: string,
): AsyncGenerator<PurgedObject> {
  const folder = jobFolder(keyPrefix, jobId);
  yield* store.purge(folder);
  yield* store.purge(conflictClaims(folder));
}

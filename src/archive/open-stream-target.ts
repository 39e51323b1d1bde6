import type { ObjectHeaders, ObjectStore, PendingUpload } from '../store/object-store.js';
import { type ArtefactContext, artefactHeaders, artefactPath, conflictKey, jobFolder } from './layout.js';
import type { StreamedItem, StreamTarget } from './staged-item.js';

/**
 * Opens the upload of a streamed item: to its own key when that is free, else to a conflict key with its hash or, while
 * that is unknown, the delivery's id. The commit checks whether the bytes really differ.
 *
 * @param claimed keys of earlier streamed items of the same delivery; the chosen key is added
 */
export async function openStreamTarget(
  store: ObjectStore,
  context: ArtefactContext,
  { identity, sha256, fileName }: StreamedItem,
  claimed: string[],
): Promise<StreamTarget> {
  const folder = jobFolder(context.keyPrefix, context.jobId);
  const path = artefactPath(identity);
  const ownKey = folder + path;
  const headers = artefactHeaders(context, identity, { fileName, ...(sha256 !== null && { sha256 }) });
  const isClaimed = claimed.includes(ownKey);
  claimed.push(ownKey);
  const own = isClaimed ? null : await openIfFree(store, ownKey, headers);
  if (own !== null) return { key: ownKey, isConflict: false, upload: own };
  const key = unclaimedKey(conflictKey(folder, path, sha256 ?? context.deliveryId), claimed);
  claimed.push(key);
  return { key, isConflict: true, upload: await store.startUpload(key, headers) };
}

/**
 * Opens the upload and concurrently checks whether the key is free, because a part's memory is held until both are done. Resolves to null
 * when the key exists, after aborting the upload.
 */
async function openIfFree(
  store: ObjectStore,
  key: string,
  headers: ObjectHeaders,
): Promise<PendingUpload | null> {
  const [head, opened] = await Promise.allSettled([store.head(key), store.startUpload(key, headers)]);
  if (head.status === 'fulfilled' && head.value === null && opened.status === 'fulfilled')
    return opened.value;
  if (opened.status === 'fulfilled') await opened.value.abort();
  if (head.status === 'rejected') throw head.reason;
  if (head.value === null && opened.status === 'rejected') throw opened.reason;
  return null;
}

/** Numbers further streamed items of one name in a delivery, so that each has its own key. */
function unclaimedKey(key: string, claimed: readonly string[]): string {
  let candidate = key;
  for (let n = 2; claimed.includes(candidate); n++) candidate = `${key}-${n}`;
  return candidate;
}

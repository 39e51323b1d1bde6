import type { ItemIdentity } from '../domain/item.js';
import type { ObjectStore } from '../store/object-store.js';
import type { ArtefactContext } from './archive.js';
import { artefactHeaders } from './artefact-headers.js';
import { artefactPath, conflictKey, jobFolder } from './layout.js';
import type { StreamTarget } from './staged-item.js';

/**
 * Decides where a streamed item goes while its hash is still unknown: to its own key when that is free, else
 * beside it under the delivery's id. Whether it really differs is found out at the commit.
 *
 * @param fileName the sender's file name, kept as metadata
 * @param claimed keys that earlier streamed items of the same delivery go to; gains the chosen one
 */
export async function openStreamTarget(
  store: ObjectStore,
  context: ArtefactContext,
  identity: ItemIdentity,
  fileName: string | undefined,
  claimed: Set<string>,
): Promise<StreamTarget> {
  const folder = jobFolder(context.keyPrefix, context.jobId);
  const path = artefactPath(identity);
  const ownKey = folder + path;
  const beside = claimed.has(ownKey) || (await store.head(ownKey)) !== null;
  const key = beside ? unclaimed(conflictKey(folder, path, context.deliveryId), claimed) : ownKey;
  claimed.add(key);
  const upload = await store.startUpload(key, artefactHeaders(context, identity, { fileName }));
  return { key, beside, upload };
}

/** A delivery may repeat a name more than once; each streamed repetition needs a key of its own. */
function unclaimed(key: string, claimed: ReadonlySet<string>): string {
  let candidate = key;
  for (let n = 2; claimed.has(candidate); n++) candidate = `${key}-${n}`;
  return candidate;
}

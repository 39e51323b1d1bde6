import type { ItemIdentity } from '../domain/item.js';
import type { ObjectStore } from '../store/object-store.js';
import { type ArtefactContext, artefactHeaders } from './artefact-headers.js';
import { artefactPath, conflictKey, jobFolder } from './layout.js';
import type { StreamTarget } from './staged-item.js';

/** What is known of an item when its stream is opened. */
export interface StreamedItem {
  readonly identity: ItemIdentity;
  /** Null while bytes are still to come. */
  readonly sha256: string | null;
  /** The sender's, kept as metadata. */
  readonly fileName: string | undefined;
}

/**
 * Decides where a streamed item goes: to its own key when that is free, else beside it under its hash or, while that
 * is unknown, under the delivery's id. Whether it really differs is found out at the commit.
 *
 * @param claimed keys that earlier streamed items of the same delivery go to; gains the chosen one
 */
export async function openStreamTarget(
  store: ObjectStore,
  context: ArtefactContext,
  { identity, sha256, fileName }: StreamedItem,
  claimed: Set<string>,
): Promise<StreamTarget> {
  const folder = jobFolder(context.keyPrefix, context.jobId);
  const path = artefactPath(identity);
  const ownKey = folder + path;
  const beside = claimed.has(ownKey) || (await store.head(ownKey)) !== null;
  const key = beside ? unclaimed(conflictKey(folder, path, sha256 ?? context.deliveryId), claimed) : ownKey;
  claimed.add(key);
  const headers = artefactHeaders(context, identity, { fileName, ...(sha256 !== null && { sha256 }) });
  const upload = await store.startUpload(key, headers);
  return { key, beside, upload };
}

/** A delivery may repeat a name more than once; each streamed repetition needs a key of its own. */
function unclaimed(key: string, claimed: ReadonlySet<string>): string {
  let candidate = key;
  for (let n = 2; claimed.has(candidate); n++) candidate = `${key}-${n}`;
  return candidate;
}
